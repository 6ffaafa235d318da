//! Accepting submissions: media and jobs of many submissions in one statement, which is one
//! transaction. A submission is answered only after the commit.
//!
//! Most items are stored with one job, which also tells of the acceptance ([`crate::created_event`]).
//! Items with an image, and items whose job would wait ([`routing`]), are stored with the event of
//! their acceptance, its deliveries and their jobs.
//!
//! The statement itself checks the site key and the site's revision, so a key that was rotated, an
//! endpoint that was added or a group that was published a moment ago counts for every submission
//! accepted after it. It also checks the team's subscription, finds repeated requests, and books
//! the quota: never more than the plan allows, and nothing for a submission that is not stored.
//! Inline images are stored before, in batches of their own ([`images`]).

mod columns;
mod images;
mod insert;
mod repetitions;
mod routing;
mod writer;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    author::Author,
    id::{MediaId, TeamId},
    idempotency::{Fingerprint, IdempotencyKey},
    key::SecretHash,
    submission::Submission,
};
use metrics::counter;
use queue::Queue;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::images::{Images, NewImage, Stored};
pub use crate::batches::Pace;
use crate::{
    Error,
    audit::sealing,
    gather::{Bounds, Gather},
    jobs::Marks,
    retention::{self, Retention},
    site::{Judges, Site},
};

/// A submission prepared for one revision of its site.
#[derive(Debug)]
pub struct NewMedia {
    /// The item's id, version 7.
    pub id: MediaId,
    /// The key that it was submitted with.
    pub key: SecretHash,
    /// The site, at the revision that everything else depends on.
    pub site: Arc<Site>,
    /// What judges it.
    pub judges: Judges,
    /// What was submitted.
    pub submission: Submission,
    /// Its author, where the site says that it is.
    pub author: Option<Author>,
    /// What identifies a repetition of the request.
    pub idempotency: Option<Idempotency>,
    /// Its trace, and the step of it that submitted it.
    pub trace: telemetry::trace::Context,
    /// When the request arrived. It waits for Postgres for [`AcceptSettings::patience`] from then
    /// on.
    pub arrived: Instant,
    /// What its request asks of all its jobs.
    pub marks: Marks,
    /// Whether it is judged for one answer only. See [`crate::media::transient`].
    pub is_transient: bool,
}

impl NewMedia {
    /// How many webhooks it causes: for its acceptance and for its verdict.
    fn webhooks(&self) -> i32 {
        if self.is_transient {
            return 0;
        }
        let events = self.site.endpoints.iter().map(|e| e.events.len());
        i32::try_from(events.sum::<usize>()).unwrap_or(i32::MAX)
    }
}

/// What identifies a request and its repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// The client's name for it.
    pub key: IdempotencyKey,
    /// What it asks for.
    pub fingerprint: Fingerprint,
}

/// What became of a prepared submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Committed.
    Accepted,
    /// The same request was accepted before, as this item. Nothing new was stored.
    Repeated(MediaId),
    /// Another request was accepted under the same idempotency key. Nothing was stored.
    IdempotencyConflict,
    /// The team has no subscription that is in force. Nothing was stored.
    NoSubscription,
    /// The team's quota for this billing period is used up. Nothing was stored.
    QuotaExceeded,
    /// It would cause more webhooks than the team's quota for this billing period has left. Nothing
    /// was stored.
    DeliveriesExceeded,
    /// The key or the site is no longer what the submission was prepared for. Nothing was stored:
    /// prepare it again.
    Stale,
    /// Postgres refuses this row because of its values. The checks before should have refused it.
    /// Nothing was stored.
    Refused,
    /// Postgres fails on this row, and its values are not the reason. Nothing was stored, and
    /// trying again will not help.
    Failed,
    /// Too many rows of the team failed in the same batch, so this one was not tried alone. Nothing
    /// was stored: try again.
    Untried,
}

/// Why a submission was not stored; a metric label.
#[derive(Clone, Copy, Debug)]
enum Rejection {
    /// Too much was waiting already.
    Overloaded,
    /// Postgres did not take it in time.
    Unavailable,
    /// Postgres refuses the row for its values.
    Refused,
    /// Postgres fails on the row.
    Failed,
    /// Too many rows of its team failed.
    Untried,
}

impl Rejection {
    /// Shows every reason as 0 from the start: a counter that first appears with its first incident
    /// shows no increase, so nobody would notice it.
    fn expect_none() {
        for reason in [
            Self::Overloaded,
            Self::Unavailable,
            Self::Refused,
            Self::Failed,
            Self::Untried,
        ] {
            reason.count(0);
        }
    }

    /// Counts so many submissions.
    fn count(self, submissions: usize) {
        let reason = match self {
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Untried => "untried",
        };
        counter!("gatehouse_accept_rejected_total", "reason" => reason)
            .increment(submissions as u64);
    }
}

/// How submissions are gathered and how long they may wait for Postgres.
#[derive(Clone, Copy, Debug)]
pub struct AcceptSettings {
    /// The bounds of the gathering.
    pub bounds: Bounds,
    /// The bounds for inline images, which are stored before.
    pub images: Bounds,
    /// How long a submission may wait for Postgres, from its arrival on.
    pub patience: Duration,
    /// What is forgotten in the background, and when.
    pub retention: Retention,
}

impl Default for AcceptSettings {
    fn default() -> Self {
        Self {
            bounds: Bounds {
                waiting: 4_096,
                waiting_bytes: 256 << 20,
                batch: 256,
                batch_bytes: 16 << 20,
                // While one batch commits, the next one fills: a second writer would halve the
                // batches and double their number.
                runners: 1,
            },
            images: Bounds {
                waiting: 1_024,
                waiting_bytes: 256 << 20,
                batch: 64,
                batch_bytes: 16 << 20,
                runners: 1,
            },
            patience: Duration::from_secs(10),
            retention: Retention::default(),
        }
    }
}

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
