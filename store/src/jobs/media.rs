//! The jobs of an item: examine its image, analyse it, judge it.

use domain::id::{EndpointId, MediaId, TeamId};
use queue::{Lane, NewJob, QueueName};
use serde::{Deserialize, Serialize};

use super::{ANALYSIS, IMAGES, RULES};
use crate::acceptance::Created;

/// The format of an item's job that also tells of its acceptance.
const TELLING: i16 = 1;

/// Fetching an image is tried this often, within about two minutes. Then the item goes on without
/// it.
const IMAGE_ATTEMPTS: u16 = 5;

/// An analysis is tried this often, within about two minutes; then the site's `on_failure` decides.
const ANALYSIS_ATTEMPTS: u16 = 5;

/// Judging needs only Postgres and our own code.
const RULES_ATTEMPTS: u16 = 10;

/// The payload of [`IMAGES`], of [`ANALYSIS`] and of [`RULES`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MediaJob {
    /// The item.
    pub media: MediaId,
    /// The endpoints that this job must tell of the item's acceptance; none if they were told
    /// already. A binary that does not know this member would tell no endpoint, so jobs with it
    /// have format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tell: Option<Vec<EndpointId>>,
    /// Whether a request waits for the verdict. See [`crate::awaited`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaited: bool,
}

impl MediaJob {
    /// The acceptance that this job must tell.
    pub fn created(&self) -> Option<Created> {
        let endpoints = self.tell.clone()?;
        Some(Created {
            media: self.media,
            endpoints,
        })
    }
}

/// Begin with this item, with the step of [`IMAGES`], [`ANALYSIS`] or [`RULES`]. A request may wait for its verdict.
pub(crate) fn begin(step: QueueName, media: MediaId, team: TeamId, awaited: bool) -> NewJob {
    let job = MediaJob {
        media,
        tell: None,
        awaited,
    };
    run(step, &job, team)
}

/// The same, and tell of the item's acceptance.
pub(crate) fn tell_and_begin(
    step: QueueName,
    created: Created,
    team: TeamId,
    awaited: bool,
) -> NewJob {
    let Created { media, endpoints } = created;
    let job = MediaJob {
        media,
        tell: Some(endpoints),
        awaited,
    };
    run(step, &job, team).format(TELLING)
}

/// Analyse this item.
pub(crate) fn analyse(media: MediaId, team: TeamId, awaited: bool) -> NewJob {
    begin(ANALYSIS, media, team, awaited)
}

/// Judge this item.
pub(crate) fn judge(media: MediaId, team: TeamId, awaited: bool) -> NewJob {
    begin(RULES, media, team, awaited)
}

fn run(step: QueueName, job: &MediaJob, team: TeamId) -> NewJob {
    let attempts = match step {
        IMAGES => IMAGE_ATTEMPTS,
        ANALYSIS => ANALYSIS_ATTEMPTS,
        _ => RULES_ATTEMPTS,
    };
    NewJob::new(step, Lane(team.as_uuid()), job).max_attempts(attempts)
}
