//! The picture of an item, as providers see it. It is loaded when the first provider is ready, and
//! decoded again for each provider: the file is kept in memory, its pixels are not.

use std::time::Duration;

use bytes::Bytes;
use domain::{
    decision::ImageProblem,
    id::{MediaId, TeamId},
    score::Category,
    throttle::Size,
};
use picture::{Frames, Picture};
use store::{
    Error, PgPool,
    analysis::{Piece, ToAnalyse},
    image,
};
use tokio::time::timeout;

use super::chunked_requests::{Asked, Pieces, Shown};
use crate::{
    decode_pool::{DecodePool, Held},
    provider::{LimitedProvider, Turn},
};

/// The memory of a picture while it is shown, in bytes: its file, and its rendition, which is
/// usually much smaller.
const WEIGHT: usize = 2 * (10 << 20);
/// How long a job waits for that memory. Meanwhile it occupies a slot.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it waits for room to decode an animation. Each try loads the file again.
const ANIMATION_PATIENCE: Duration = Duration::from_secs(10);

/// An item's picture.
pub(super) struct ItemImage<'a> {
    media: MediaId,
    team: TeamId,
    pool: &'a PgPool,
    decode_pool: &'a DecodePool,
    held: Option<Held>,
    file: Option<Bytes>,
}

/// The outcome of showing a picture to a provider.
pub(super) struct Look {
    pub(super) asked: Asked,
    /// The answers to frames, unless all of them are done.
    pub(super) learned: Vec<Piece>,
    /// Why part of it could not be shown. None if all of it was shown.
    pub(super) unseen: Option<ImageProblem>,
}

impl Look {
    fn new(asked: Asked) -> Self {
        Self {
            asked,
            learned: Vec::new(),
            unseen: None,
        }
    }
}

/// Why it cannot be shown.
#[derive(Debug)]
pub(super) enum Unseen {
    /// Its bytes were removed in the meantime.
    Gone,
    /// It cannot be decoded, or not be brought within the limits.
    Problem(ImageProblem),
    /// There was no room to decode it.
    Crowded,
}

impl<'a> ItemImage<'a> {
    pub(super) fn new(
        media: MediaId,
        team: TeamId,
        pool: &'a PgPool,
        decode_pool: &'a DecodePool,
    ) -> Self {
        Self {
            media,
            team,
            pool,
            decode_pool,
            held: None,
            file: None,
        }
    }

    /// Whether there is room for it.
    pub(super) async fn has_room(&mut self) -> bool {
        if self.held.is_none() {
            let room = self.decode_pool.hold(self.team, WEIGHT);
            self.held = timeout(PATIENCE, room).await.ok();
        }
        self.held.is_some()
    }

    /// Shows it to a provider, an animation frame by frame, while there is time. Call
    /// [`Self::has_room`] first.
    ///
    /// # Errors
    /// The provider's state, or the bytes, could not be read from the database.
    pub(super) async fn show(
        &mut self,
        provider: &LimitedProvider,
        categories: &[Category],
        item: &ToAnalyse,
        is_last_attempt: bool,
        has_time: impl Fn() -> bool,
    ) -> Result<Result<Look, Unseen>, Error> {
        let seat = match provider.turn(Size::IMAGE).await? {
            Turn::Open(seat) => seat,
            Turn::Paused(wait) => return Ok(Ok(Look::new(Asked::Paused(wait)))),
        };
        let Some(limits) = provider.profile().limits else {
            // A provider without limits takes no images and is not asked about any.
            return Ok(Err(Unseen::Gone));
        };
        let Some(file) = self.file().await? else {
            return Ok(Err(Unseen::Gone));
        };
        let animation = self.decode_pool.animation(&file);
        let unseen = animation.and_then(|animation| animation.unseen());
        let animation = animation.filter(|animation| !animation.is_first_frame_only());
        // Decoding an animation may take long, so others use the place meanwhile. A request that
        // probes the provider keeps it.
        let seat = Some(seat).filter(|seat| animation.is_none() || seat.is_probe());
        let reel = match animation {
            None => {
                let work = move |picture: &Picture| picture.rendition(&limits);
                let developed = self.decode_pool.decode(self.team, file, work).await;
                developed.map(|rendition| Frames::still(rendition, unseen))
            }
            Some(animation) => {
                let animation_slot = self.decode_pool.animation_slot(self.team, animation);
                let Ok(animation_slot) = timeout(ANIMATION_PATIENCE, animation_slot).await else {
                    return Ok(Err(Unseen::Crowded));
                };
                animation_slot.frames(file, limits).await
            }
        };
        let reel = match reel {
            Ok(reel) => reel,
            Err(problem) => return Ok(Err(Unseen::Problem(problem))),
        };
        let pieces = Pieces {
            shown: Shown::frames(&reel),
            categories,
            policy: item.policy.as_deref(),
            team: item.team,
            kept: &item.pieces,
            is_last_attempt,
        };
        let (asked, learned) = pieces.show(provider, seat, has_time).await?;
        Ok(Ok(Look {
            asked,
            learned,
            unseen: reel.unseen,
        }))
    }

    async fn file(&mut self) -> Result<Option<Bytes>, Error> {
        if self.file.is_none() {
            let file = image::bytes(self.pool, self.media).await?;
            self.file = file.map(Bytes::from);
        }
        Ok(self.file.clone())
    }
}
