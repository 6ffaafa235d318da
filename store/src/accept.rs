//! Accepting submissions: media and jobs of many submissions in one statement, which is one transaction. Only when it has
//! committed is a submission answered.
//!
//! Most items come with one job, which also tells of the acceptance ([`crate::created`]). Those with an image, and those whose job
//! would wait ([`ways`]), come with the event that tells it, its deliveries and their jobs.
//!
//! The statement itself checks the site key and the site's revision, so a key that was rotated, an endpoint that was
//! added or a group that was published a moment ago counts for every submission accepted after it. It also checks the
//! team's subscription, finds repeated requests, and books the quota: never one more than the plan allows, and nothing
//! for what is not stored. Inline images go ahead on a path of their own ([`images`]).

mod columns;
mod images;
mod insert;
mod rejection;
mod repetition;
mod retention;
mod ways;
mod writer;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
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

pub use self::retention::Retention;
use self::{
    images::{Images, NewImage, Stored},
    rejection::Rejection,
};
use crate::{
    Error,
    gather::{Bounds, Gather},
    site::{Judges, Site},
};

/// A submission prepared for one revision of its site.
#[derive(Debug)]
pub struct NewMedia {
    /// The item's id, version 7.
    pub id: MediaId,
    /// The key that it was submitted with.
    pub key: SecretHash,
    /// The site, at the revision that all the rest depends on.
    pub site: Arc<Site>,
    /// What judges it.
    pub judges: Judges,
    /// What was submitted.
    pub submission: Submission,
    /// By what a repetition of the request is known.
    pub idempotency: Option<Idempotency>,
    /// When the request was there. Until then plus [`AcceptSettings::patience`] an outage is waited out.
    pub arrived: Instant,
}

impl NewMedia {
    /// How many webhooks it causes: of its acceptance, and of its verdict.
    fn webhooks(&self) -> i32 {
        let events = self.site.endpoints.iter().map(|e| e.events.len());
        i32::try_from(events.sum::<usize>()).unwrap_or(i32::MAX)
    }
}

/// What makes a request and its repetitions one.
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
    /// The webhooks that it would cause are more than the team's quota for this billing period has left. Nothing was stored.
    DeliveriesExceeded,
    /// The key or the site is no longer what the submission was prepared for. Nothing was stored: prepare it again.
    Stale,
    /// Postgres refuses this very row for its values, which the checks before should have refused. Nothing was stored.
    Refused,
    /// Postgres fails on this very row, and the reason is not its values. Nothing was stored, and trying again will not help.
    Failed,
    /// Too many rows of the team failed in the same batch, so this one was not tried alone. Nothing was stored: try again.
    Untried,
}

/// How submissions are gathered and how long they may wait for Postgres.
#[derive(Clone, Copy, Debug)]
pub struct AcceptSettings {
    /// The gathering's bounds.
    pub bounds: Bounds,
    /// Those of inline images, before.
    pub images: Bounds,
    /// How long a submission may wait for Postgres, from its arrival on.
    pub patience: Duration,
    /// What is forgotten beside, and when.
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
                // While one batch commits, the next one fills: a second writer would halve the batches and double
                // their number.
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
    /// Ends what goes on in the background with the last clone.
    _background: Arc<DropGuard>,
}

impl Acceptor {
    /// Starts the writer. Through `queue` the workers hear of new jobs after each commit.
    pub fn start(pool: PgPool, queue: Queue, settings: AcceptSettings) -> Self {
        Rejection::expect_none();
        quota_refused(0);
        let stop = CancellationToken::new();
        tokio::spawn(
            stop.clone()
                .run_until_cancelled_owned(retention::run(pool.clone(), settings.retention)),
        );
        let (looked, ways) = watch::channel(Arc::default());
        tokio::spawn(
            stop.clone()
                .run_until_cancelled_owned(ways::look(pool.clone(), looked)),
        );
        let images = Images::start(pool.clone(), settings.images, settings.patience);
        let gather = Gather::shared(settings.bounds, move |batch| {
            let ways = Arc::clone(&ways.borrow());
            writer::write(pool.clone(), queue.clone(), settings.patience, ways, batch)
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
    /// [`Error::Overloaded`] at once when too much is waiting. [`Error::Unavailable`] if Postgres did not take it in time;
    /// it may be stored all the same when a connection broke during the commit.
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
        // Of its own, so that a client who goes away leaves no image behind that belongs to nothing.
        let own = self.clone();
        let settling = tokio::spawn(async move {
            let id = media.id;
            if let Stored::Spoiled(acceptance) = own.images.store(media.arrived, image).await? {
                return Ok(acceptance);
            }
            let acceptance = own.ask(media).await;
            match acceptance {
                // Unavailable: it may be stored all the same.
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

    /// How many submissions wait for a writer, those that wait with their images first among them.
    pub fn waiting(&self) -> usize {
        self.images.waiting() + self.gather.waiting()
    }
}

/// Counts a submission that was turned away because too much is waiting, or because of the database.
pub fn turned_away(error: &Error) {
    match error {
        Error::Overloaded => Rejection::Overloaded.count(1),
        _ => Rejection::Unavailable.count(1),
    }
}

fn quota_refused(submissions: u64) {
    counter!("gatehouse_quota_refused_total").increment(submissions);
}
