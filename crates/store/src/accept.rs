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

mod acceptor;
mod columns;
mod idempotency;
mod images;
mod insert;
mod rejection;
mod retention;
mod routing;
mod settings;
mod writer;

use std::{sync::Arc, time::Instant};

use domain::{
    author::Author,
    id::MediaId,
    idempotency::{Fingerprint, IdempotencyKey},
    key::SecretHash,
    submission::Submission,
};

pub use self::{
    acceptor::{Acceptor, turned_away},
    retention::{Retention, forget_nothing_later, forget_of_sites},
    settings::AcceptSettings,
};
pub use crate::batches::Pace;
use crate::{
    jobs::Marks,
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
