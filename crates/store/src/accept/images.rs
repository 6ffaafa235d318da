//! Inline images, stored before their submissions are accepted.
//!
//! One image weighs as much as ten thousand texts. In the accepting statement, it would delay all
//! other submissions of the batch, and all that need the row of its team's quota, for as long as
//! its bytes are written. So the bytes are stored before, in batches of their own, under the id
//! that the item will have. The accepting statement only checks that they are there. An image whose
//! submission is not accepted is removed: at once by the caller that hears so, or later by the
//! retention.

mod remove;
mod write;

use std::time::{Duration, Instant};

use domain::{
    id::{MediaId, TeamId},
    key::SecretHash,
    submission::ImageSource,
};
use sqlx::PgPool;
use tracing::debug;

pub(super) use self::remove::forget_orphans;
use self::{remove::remove, write::write};
use super::{Acceptance, NewMedia};
use crate::{
    Error,
    gather::{Bounds, Gather},
};

/// The image of a submission that will be accepted next.
pub(super) struct NewImage {
    media: MediaId,
    team: TeamId,
    key: SecretHash,
    format: &'static str,
    bytes: Vec<u8>,
    /// How many webhooks its submission causes.
    webhooks: i32,
}

/// What became of an image.
pub(super) enum Stored {
    /// It is stored, unless its team has no quota left.
    Ahead,
    /// Postgres does not accept this row. Its submission gets this answer.
    Spoiled(Acceptance),
}

impl NewImage {
    /// Takes the bytes of a submission's inline image.
    pub(super) fn of(media: &mut NewMedia) -> Option<Self> {
        let webhooks = media.webhooks();
        match &mut media.submission.image {
            Some(ImageSource::Inline { format, bytes }) => Some(Self {
                media: media.id,
                team: media.site.team,
                key: media.key,
                format: format.as_str(),
                bytes: std::mem::take(bytes),
                webhooks,
            }),
            Some(ImageSource::Url(_)) | None => None,
        }
    }
}

/// Stores images of all callers of this process.
#[derive(Clone)]
pub(super) struct Images {
    gather: Gather<NewImage, Stored, TeamId>,
    pool: PgPool,
}

impl Images {
    pub(super) fn start(pool: PgPool, bounds: Bounds, patience: Duration) -> Self {
        let for_batches = pool.clone();
        let gather = Gather::shared(bounds, move |batch| {
            write(for_batches.clone(), patience, batch)
        });
        Self { gather, pool }
    }

    /// Stores an image, unless its team has no quota left: then the accepting statement says so.
    pub(super) async fn store(&self, since: Instant, image: NewImage) -> Result<Stored, Error> {
        let weight = image.bytes.len();
        self.gather
            .ask_since(since, image.team, image, weight)
            .await
    }

    /// How many images wait to be stored.
    pub(super) fn waiting(&self) -> usize {
        self.gather.waiting()
    }

    /// How many images may wait.
    pub(super) fn capacity(&self) -> usize {
        self.gather.capacity()
    }

    /// Removes an image whose submission was not accepted. Nobody waits for it.
    pub(super) fn discard(&self, media: MediaId) {
        let pool = self.pool.clone();
        tokio::spawn(async move {
            if let Err(error) = remove(&pool, media).await {
                debug!(%error, "could not remove an unused image; the retention removes it");
            }
        });
    }
}
