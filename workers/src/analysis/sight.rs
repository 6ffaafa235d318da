//! The picture of an item, as providers are shown it. It is loaded when the first of them is ready to look, and decoded again for
//! each: its file is kept, its pixels are not.

use std::time::Duration;

use bytes::Bytes;
use domain::{
    decision::ImageProblem,
    id::{MediaId, TeamId},
    score::Category,
    throttle::Size,
};
use store::{
    Error, PgPool,
    analysis::{Piece, ToAnalyse},
    image,
};
use tokio::time::timeout;

use super::pieces::{Asked, Pieces, Shown};
use crate::{
    darkroom::{Darkroom, Held},
    picture::{Film, Picture},
    provider::{Guarded, Turn},
};

/// What a picture takes while it is shown, in bytes: its file as it was taken in, and what is shown of it, which is mostly far smaller.
const WEIGHT: usize = 2 * (10 << 20);
/// How long a job waits for that. Its own place among the jobs is taken meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it waits until an animation can be decoded. Each try loads the file again.
const ANIMATION_PATIENCE: Duration = Duration::from_secs(10);

/// An item's picture.
pub(super) struct Sight<'a> {
    media: MediaId,
    team: TeamId,
    pool: &'a PgPool,
    darkroom: &'a Darkroom,
    held: Option<Held>,
    file: Option<Bytes>,
}

/// What became of a picture that was shown to a provider.
pub(super) struct Look {
    pub(super) asked: Asked,
    /// What was said of frames, unless all of them are done.
    pub(super) learned: Vec<Piece>,
    /// Why not all of it could be shown; none if all could.
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

/// Why nobody can be shown it.
#[derive(Debug)]
pub(super) enum Unseen {
    /// Its bytes have been removed meanwhile.
    Gone,
    /// It cannot be decoded, or not be made to obey the limits.
    Problem(ImageProblem),
    /// There was no room to decode it.
    Crowded,
}

impl<'a> Sight<'a> {
    pub(super) fn new(
        media: MediaId,
        team: TeamId,
        pool: &'a PgPool,
        darkroom: &'a Darkroom,
    ) -> Self {
        Self {
            media,
            team,
            pool,
            darkroom,
            held: None,
            file: None,
        }
    }

    /// Whether there is room for it.
    pub(super) async fn has_room(&mut self) -> bool {
        if self.held.is_none() {
            let room = self.darkroom.hold(self.team, WEIGHT);
            self.held = timeout(PATIENCE, room).await.ok();
        }
        self.held.is_some()
    }

    /// Shows it to a provider, an animation frame by frame, as long as there is time. There must be room for it.
    ///
    /// # Errors
    /// The provider's state, or the bytes, could not be read from the database.
    pub(super) async fn show(
        &mut self,
        provider: &Guarded,
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
            // It looks at none, and is not asked about any.
            return Ok(Err(Unseen::Gone));
        };
        let Some(file) = self.file().await? else {
            return Ok(Err(Unseen::Gone));
        };
        let animation = self.darkroom.animation(&file);
        let unseen = animation.and_then(|animation| animation.unseen());
        let animation = animation.filter(|animation| !animation.is_first_frame_only());
        // Decoding an animation may take long: meanwhile others use the place. A request that probes the provider keeps it.
        let seat = Some(seat).filter(|seat| animation.is_none() || seat.is_probe());
        let reel = match animation {
            None => {
                let work = move |picture: &Picture| picture.rendition(&limits);
                let developed = self.darkroom.develop(self.team, file, work).await;
                developed.map(|rendition| Film::still(rendition, unseen))
            }
            Some(animation) => {
                let projector = self.darkroom.projector(self.team, animation);
                let Ok(projector) = timeout(ANIMATION_PATIENCE, projector).await else {
                    return Ok(Err(Unseen::Crowded));
                };
                projector.film(file, limits).await
            }
        };
        let reel = match reel {
            Ok(reel) => reel,
            Err(problem) => return Ok(Err(Unseen::Problem(problem))),
        };
        let pieces = Pieces {
            shown: Shown::film(&reel),
            categories,
            policy: item.policy.as_deref(),
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
