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
use store::{Error, PgPool, analysis::ToAnalyse, image};
use tokio::time::timeout;

use super::pieces::Asked;
use crate::{
    darkroom::{Darkroom, Held},
    picture::{Limits, Rendition},
    provider::{Content, Desk, Question, Reply, Turn},
};

/// What a picture takes while it is shown, in bytes: its file as it was taken in, and a rendition, which is mostly far smaller.
const WEIGHT: usize = 2 * (10 << 20);
/// How long a job waits for that. Its own place among the jobs is taken meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);

/// An item's picture.
pub(super) struct Sight<'a> {
    media: MediaId,
    team: TeamId,
    pool: &'a PgPool,
    darkroom: &'a Darkroom,
    held: Option<Held>,
    file: Option<Bytes>,
}

/// Why nobody can be shown it.
#[derive(Debug)]
pub(super) enum Unseen {
    /// Its bytes have been removed meanwhile.
    Gone,
    /// It cannot be decoded, or not be made to obey the limits.
    Problem(ImageProblem),
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

    /// Shows it to a provider. There must be room for it.
    ///
    /// # Errors
    /// How it stands with the provider, or the bytes, could not be read from the database.
    pub(super) async fn show(
        &mut self,
        desk: &Desk,
        categories: &[Category],
        item: &ToAnalyse,
    ) -> Result<Result<Asked, Unseen>, Error> {
        let seat = match desk.turn(Size::IMAGE).await? {
            Turn::Open(seat) => seat,
            Turn::Paused(wait) => return Ok(Ok(Asked::Paused(wait))),
        };
        let Some(limits) = desk.profile().limits else {
            // It looks at none, and is not asked about any.
            return Ok(Err(Unseen::Gone));
        };
        let rendition = match self.within(limits).await? {
            Ok(rendition) => rendition,
            Err(unseen) => return Ok(Err(unseen)),
        };
        let question = Question {
            content: Content::Image(&rendition),
            categories,
            policy: item.policy.as_deref(),
        };
        Ok(Ok(match seat.ask(question).await {
            Reply::Said(answer, elapsed) => Asked::Said(answer, elapsed),
            Reply::Paused(wait) => Asked::Paused(wait),
            Reply::Failed(error, elapsed) => Asked::Failed(error, elapsed),
        }))
    }

    /// The picture within these limits.
    async fn within(&mut self, limits: Limits) -> Result<Result<Rendition, Unseen>, Error> {
        if self.file.is_none() {
            let file = image::bytes(self.pool, self.media).await?;
            self.file = file.map(Bytes::from);
        }
        let Some(file) = self.file.clone() else {
            return Ok(Err(Unseen::Gone));
        };
        let developing = self
            .darkroom
            .develop(self.team, file, move |picture| picture.rendition(&limits));
        Ok(developing.await.map_err(Unseen::Problem))
    }
}
