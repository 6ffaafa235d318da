//! Inline images, stored before their submissions are accepted.
//!
//! One image weighs as much as ten thousand texts. In the accepting statement, it would delay all
//! other submissions of the batch, and all that need the row of its team's quota, for as long as
//! its bytes are written. So the bytes are stored before, in batches of their own, under the id
//! that the item will have. The accepting statement only checks that they are there. An image whose
//! submission is not accepted is removed: at once by the caller that hears so, or later by the
//! retention.

use std::time::{Duration, Instant};

use database::Trouble;
use domain::{
    id::{MediaId, TeamId},
    key::SecretHash,
    submission::ImageSource,
};
use queue::Fault;
use sqlx::PgPool;
use telemetry::{failed, over};
use tokio::time::{sleep, timeout_at};
use tracing::debug;
use uuid::Uuid;

use super::{Acceptance, NewMedia};
use crate::{
    Error,
    accept::writer::{MOMENT, PAUSE, spoiled},
    bisect::Pieces,
    gather::{Bounds, Call, Gather},
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

type Waiting = Call<NewImage, Stored, TeamId>;

/// Batches that could not be stored, of all writers of this process.
static TROUBLE: Trouble = Trouble::at_once();

async fn write(pool: PgPool, patience: Duration, batch: Vec<Waiting>) {
    let since = batch.iter().map(|call| call.since).min();
    let mut deadline = since.unwrap_or_else(Instant::now) + patience;
    let mut pieces = Pieces::new(batch, |call: &Waiting| call.question.team);
    while let Some(piece) = pieces.next() {
        match store(&pool, &piece, patience, deadline).await {
            Ok(()) => piece
                .into_iter()
                .for_each(|call| call.answer(Stored::Ahead)),
            Err(error) if Fault::of(&error) == Fault::Effect => {
                let (calls, acceptance) = spoiled(&error, &mut pieces, piece);
                for call in calls {
                    call.answer(Stored::Spoiled(acceptance));
                }
            }
            Err(error) => {
                let error = database::counted(error);
                failed!(TROUBLE.failed(&error), %error, images = piece.len(), "could not store images");
                piece.into_iter().for_each(Call::give_up);
                continue;
            }
        }
        // Postgres has answered, so this is no outage.
        deadline = deadline.max(Instant::now() + MOMENT);
    }
}

/// Inserts, again and again while Postgres is away.
async fn store(
    pool: &PgPool,
    piece: &[Waiting],
    patience: Duration,
    deadline: Instant,
) -> Result<(), sqlx::Error> {
    let images: Vec<&NewImage> = piece.iter().map(|call| &call.question).collect();
    loop {
        let inserting = timeout_at(deadline.into(), insert(pool, &images));
        let error = match inserting.await {
            Ok(Ok(())) => {
                over!(TROUBLE.worked(), "images are stored again");
                return Ok(());
            }
            Ok(Err(error)) => error,
            Err(_) => database::deadline_exceeded(patience),
        };
        if Fault::of(&error) == Fault::Effect || Instant::now() + PAUSE > deadline {
            return Err(error);
        }
        let error = database::counted(error);
        failed!(TROUBLE.failed(&error), %error, images = images.len(), "could not store images; trying again");
        sleep(PAUSE).await;
    }
}

/// Stores those whose team has a quota left. A batch whose answer was lost may be stored again.
async fn insert(pool: &PgPool, images: &[&NewImage]) -> Result<(), sqlx::Error> {
    let media: Vec<Uuid> = images.iter().map(|image| image.media.as_uuid()).collect();
    let keys: Vec<&[u8]> = images
        .iter()
        .map(|image| &image.key.as_bytes()[..])
        .collect();
    let formats: Vec<&str> = images.iter().map(|image| image.format).collect();
    let bytes: Vec<&[u8]> = images.iter().map(|image| &image.bytes[..]).collect();
    let webhooks: Vec<i32> = images.iter().map(|image| image.webhooks).collect();
    sqlx::query!(
        "
        insert into media_images (media_id, site_id, format, bytes)
        select i.media_id, s.id, i.format, i.bytes
        from unnest($1::uuid [], $2::bytea [], $3::text [], $4::bytea [], $5::integer [])
            as i (media_id, key_hash, format, bytes, webhooks)
        join site_keys k on k.hash = i.key_hash and k.disabled_at is null
        join sites s on s.id = k.site_id
        join subscriptions b on b.team_id = s.team_id
        join plans p on p.id = b.plan_id
        left join usage u on u.team_id = s.team_id and u.period_start = billing_period(b.started_at, now())
        where
            (p.submissions_per_period is null or coalesce(u.submissions, 0) < p.submissions_per_period)
            and (
                p.deliveries_per_period is null or i.webhooks = 0
                or coalesce(u.deliveries, 0) + i.webhooks <= p.deliveries_per_period
            )
        on conflict do nothing
        ",
        &media,
        &keys as &[&[u8]],
        &formats as &[&str],
        &bytes as &[&[u8]],
        &webhooks,
    )
    .execute(pool)
    .await?;
    Ok(())
}

async fn remove(pool: &PgPool, media: MediaId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from media_images where media_id = $1",
        media.as_uuid()
    )
    .execute(pool)
    .await?;
    Ok(())
}
