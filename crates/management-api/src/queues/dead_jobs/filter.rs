//! Which dead jobs a request is about.

use api_common::field::Time;
use queue::{
    Group, JobId, Lane,
    dead_jobs::{Filter, Place},
};
use uuid::Uuid;

use crate::queues::parameters::{Cause, ErrorText, QueueKey};

/// The conditions of a request.
pub(super) struct Given {
    pub(super) ids: Option<Vec<JobId>>,
    pub(super) queue: Option<QueueKey>,
    pub(super) cause: Option<Cause>,
    pub(super) error: Option<ErrorText>,
    pub(super) team: Option<Uuid>,
    pub(super) lane: Option<Uuid>,
    pub(super) since: Option<Time>,
    pub(super) until: Option<Time>,
}

impl Given {
    /// Whether there is any condition.
    pub(super) fn is_any(&self) -> bool {
        self.ids.is_some()
            || self.queue.is_some()
            || self.cause.is_some()
            || self.error.is_some()
            || self.team.is_some()
            || self.lane.is_some()
            || self.since.is_some()
            || self.until.is_some()
    }

    /// The jobs that meet all conditions and died before a place.
    pub(super) fn before(&self, place: Option<Place>) -> Filter<'_> {
        let until = self.until.map(beginning_of);
        Filter {
            ids: self.ids.as_deref(),
            queue: self.queue.as_ref().map(QueueKey::as_str),
            group: self.team.map(Group),
            lane: self.lane.map(Lane),
            cause: self.cause.map(|cause| cause.0),
            error: self.error.as_ref().map(ErrorText::as_str),
            after: self.since.map(beginning_of),
            before: until.into_iter().chain(place).min(),
        }
    }
}

/// The place before all jobs that died at a time or later.
fn beginning_of(time: Time) -> Place {
    Place {
        died_at: time.0,
        id: JobId(i64::MIN),
    }
}
