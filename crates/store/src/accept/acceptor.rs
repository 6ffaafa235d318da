//! The front of accepting: callers hand in submissions here and get their answers.

use std::sync::Arc;

use domain::id::TeamId;
use metrics::counter;
use queue::Queue;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Acceptance, NewMedia,
    images::{Images, NewImage, Stored},
    rejection::Rejection,
    retention, routing,
    settings::AcceptSettings,
    writer,
};
use crate::{Error, audit::sealing, gather::Gather};

/// Takes submissions of all callers of this process and writes them in batches.
#[derive(Clone)]
pub struct Acceptor {
    gather: Gather<NewMedia, Acceptance, TeamId>,
    images: Images,
    /// Ends the background tasks when the last clone is dropped.
    _background: Arc<DropGuard>,
}

impl Acceptor {
    /// Starts the writer. The workers hear of new jobs through `queue` after each commit.
    pub fn start(pool: PgPool, queue: Queue, settings: AcceptSettings) -> Self {
        Rejection::expect_none();
        quota_refused(0);
        let _shown = writer::rows();
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(once_begun(
            queue.clone(),
            retention::run(pool.clone(), settings.retention),
        )));
        // Housekeeping of the API processes, too: deployments may have no other process.
        tokio::spawn(
            stop.clone()
                .run_until_cancelled_owned(once_begun(queue.clone(), sealing::run(pool.clone()))),
        );
        let (looked, routing) = watch::channel(Arc::default());
        tokio::spawn(stop.clone().run_until_cancelled_owned(once_begun(
            queue.clone(),
            routing::look(pool.clone(), looked),
        )));
        let images = Images::start(pool.clone(), settings.images, settings.patience);
        let locked_teams = writer::LockedTeams::new();
        let gather = Gather::shared(settings.bounds, move |batch| {
            let routing = Arc::clone(&routing.borrow());
            let (pool, queue, locked_teams) = (pool.clone(), queue.clone(), locked_teams.clone());
            writer::write(pool, queue, settings.patience, routing, locked_teams, batch)
        });
        Self {
            gather,
            images,
            _background: Arc::new(stop.drop_guard()),
        }
    }

    /// Stores a submission together with everything that follows from it, or nothing.
    ///
    /// # Errors
    /// [`Error::Overloaded`] at once when too much is waiting. [`Error::Unavailable`] if Postgres
    /// did not take it in time; it may be stored nevertheless, if a connection broke during the
    /// commit.
    pub async fn accept(&self, media: NewMedia) -> Result<Acceptance, Error> {
        let answer = self.accept_with_image(media).await;
        match &answer {
            Err(error) => turned_away(error),
            Ok(Acceptance::Refused) => Rejection::Refused.count(1),
            Ok(Acceptance::Failed) => Rejection::Failed.count(1),
            Ok(Acceptance::Untried) => Rejection::Untried.count(1),
            Ok(Acceptance::QuotaExceeded | Acceptance::DeliveriesExceeded) => quota_refused(1),
            Ok(
                Acceptance::Accepted
                | Acceptance::Repeated(_)
                | Acceptance::IdempotencyConflict
                | Acceptance::NoSubscription
                | Acceptance::Stale,
            ) => {}
        }
        answer
    }

    async fn accept_with_image(&self, mut media: NewMedia) -> Result<Acceptance, Error> {
        let Some(image) = NewImage::of(&mut media) else {
            return self.ask(media).await;
        };
        // This is a task of its own, so that a client that goes away leaves no image without an
        // item.
        let own = self.clone();
        let settling = tokio::spawn(async move {
            let id = media.id;
            if let Stored::Spoiled(acceptance) = own.images.store(media.arrived, image).await? {
                return Ok(acceptance);
            }
            let acceptance = own.ask(media).await;
            match acceptance {
                // Unavailable: it may be stored nevertheless.
                Ok(Acceptance::Accepted) | Err(Error::Unavailable) => {}
                Ok(_) | Err(_) => own.images.discard(id),
            }
            acceptance
        });
        settling.await.unwrap_or(Err(Error::Unavailable))
    }

    async fn ask(&self, media: NewMedia) -> Result<Acceptance, Error> {
        let weight = media.submission.weight();
        self.gather
            .ask_since(media.arrived, media.site.team, media, weight)
            .await
    }

    /// How many submissions wait for a writer, including those whose images are still waiting.
    pub fn waiting(&self) -> usize {
        self.images.waiting() + self.gather.waiting()
    }

    /// How many submissions may wait at most, counted like [`waiting`](Self::waiting). No more are
    /// accepted, too, while those that wait hold too many bytes.
    pub fn capacity(&self) -> usize {
        self.images.capacity() + self.gather.capacity()
    }
}

/// Does this once the schema exists.
async fn once_begun(queue: Queue, task: impl Future<Output = ()>) {
    queue.begun().await;
    task.await;
}

/// Counts a submission that was turned away because too much is waiting, or because of the
/// database.
pub fn turned_away(error: &Error) {
    match error {
        Error::Overloaded => Rejection::Overloaded.count(1),
        _ => Rejection::Unavailable.count(1),
    }
}

fn quota_refused(submissions: u64) {
    counter!("gatehouse_quota_refused_total").increment(submissions);
}
