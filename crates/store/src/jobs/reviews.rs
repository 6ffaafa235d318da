//! The job of a decision on the review desk.

use domain::id::{OpinionId, TeamId};
use queue::{Lane, NewJob};
use serde::{Deserialize, Serialize};

use super::REVIEWS;

/// Telling needs only Postgres and our own code.
const ATTEMPTS: u16 = 10;

/// The payload of [`REVIEWS`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReviewJob {
    /// What a person said. There is none if the person undid it.
    pub opinion: OpinionId,
}

/// End the hold of what a person said.
pub(crate) fn end_review(opinion: OpinionId, team: TeamId) -> NewJob {
    NewJob::new(REVIEWS, Lane(team.as_uuid()), &ReviewJob { opinion }).max_attempts(ATTEMPTS)
}
