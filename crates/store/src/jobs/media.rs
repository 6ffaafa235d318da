//! The jobs of an item: examine its image, analyse it, judge it.

use domain::id::{EndpointId, MediaId, TeamId};
use queue::{Lane, NewJob, QueueName};
use serde::{Deserialize, Serialize};

use super::{ANALYSIS, IMAGES, RULES};
use crate::created_event::Created;

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
    /// Whether a request waits for the verdict. See [`crate::verdict_waiters`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaited: bool,
    /// Whether the item gets scores in all categories, also in those that no rule wants.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_scores: bool,
}

/// What the request of an item asks of all its jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// See [`MediaJob::awaited`].
    pub awaited: bool,
    /// See [`MediaJob::all_scores`].
    pub all_scores: bool,
}

impl MediaJob {
    fn new(media: MediaId, tell: Option<Vec<EndpointId>>, marks: Marks) -> Self {
        let Marks {
            awaited,
            all_scores,
        } = marks;
        Self {
            media,
            tell,
            awaited,
            all_scores,
        }
    }

    /// What its request asks of the item's other jobs, too.
    pub fn marks(&self) -> Marks {
        Marks {
            awaited: self.awaited,
            all_scores: self.all_scores,
        }
    }

    /// The acceptance that this job must tell.
    pub fn created(&self) -> Option<Created> {
        let endpoints = self.tell.clone()?;
        Some(Created {
            media: self.media,
            endpoints,
        })
    }
}

/// Begin with this item, with the step of [`IMAGES`], [`ANALYSIS`] or [`RULES`].
pub(crate) fn begin(step: QueueName, media: MediaId, team: TeamId, marks: Marks) -> NewJob {
    run(step, &MediaJob::new(media, None, marks), team)
}

/// The same, and tell of the item's acceptance.
pub(crate) fn tell_and_begin(
    step: QueueName,
    created: Created,
    team: TeamId,
    marks: Marks,
) -> NewJob {
    let Created { media, endpoints } = created;
    let job = MediaJob::new(media, Some(endpoints), marks);
    run(step, &job, team).format(TELLING)
}

/// Analyse this item.
pub(crate) fn analyse(media: MediaId, team: TeamId, marks: Marks) -> NewJob {
    begin(ANALYSIS, media, team, marks)
}

/// Judge this item.
pub(crate) fn judge(media: MediaId, team: TeamId, marks: Marks) -> NewJob {
    begin(RULES, media, team, marks)
}

fn run(step: QueueName, job: &MediaJob, team: TeamId) -> NewJob {
    let attempts = match step {
        IMAGES => IMAGE_ATTEMPTS,
        ANALYSIS => ANALYSIS_ATTEMPTS,
        _ => RULES_ATTEMPTS,
    };
    NewJob::new(step, Lane(team.as_uuid()), job).max_attempts(attempts)
}
