//! The job that removes an item that was judged for one answer only.

use std::time::Duration;

use domain::id::{MediaId, TeamId};
use queue::{Lane, NewJob};
use serde::{Deserialize, Serialize};

use super::REMOVALS;

/// How long after its verdict an item is removed. The request that waits for the verdict reads it until then.
const DELAY: Duration = Duration::from_secs(15);

/// Removing needs only Postgres and our own code.
const ATTEMPTS: u16 = 10;

/// The payload of [`REMOVALS`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RemovalJob {
    /// The item.
    pub media: MediaId,
}

/// Remove this item, which has just been decided.
pub(crate) fn remove(media: MediaId, team: TeamId) -> NewJob {
    NewJob::new(REMOVALS, Lane(team.as_uuid()), &RemovalJob { media })
        .max_attempts(ATTEMPTS)
        .delay(DELAY)
}
