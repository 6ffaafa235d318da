//! What a claim returned: the answer of `queue.claim`.

use std::time::Duration;

use uuid::Uuid;

use crate::{BackendSettings, Group, JobId, Lane, Run, in_flight::Claim};

/// The answer of `queue.claim`: parallel arrays, and what the walk found.
pub(super) struct Claimed {
    pub(super) ids: Option<Vec<i64>>,
    pub(super) groups: Option<Vec<Uuid>>,
    pub(super) lanes: Option<Vec<Uuid>>,
    pub(super) fences: Option<Vec<i32>>,
    pub(super) attempts: Option<Vec<i16>>,
    pub(super) max_attempts: Option<Vec<i16>>,
    pub(super) payloads: Option<Vec<String>>,
    pub(super) waited_ms: Option<Vec<i64>>,
    pub(super) next_group: Uuid,
    pub(super) ring_groups: Option<Vec<Uuid>>,
    pub(super) ring_lanes: Option<Vec<Uuid>>,
    pub(super) visited: i32,
    pub(super) met: i32,
    pub(super) more: bool,
    pub(super) capped: bool,
    pub(super) next_due_ms: Option<i64>,
}

impl Claimed {
    /// The only group that has due jobs, if the claim saw that there is no other.
    pub(super) fn only_group(&self) -> Option<Group> {
        let group = self.groups.as_ref()?.first().copied();
        group.filter(|_| self.met == 1).map(Group)
    }

    pub(super) fn into_claims(
        self,
        settings: &BackendSettings,
    ) -> impl Iterator<Item = (Claim, String)> {
        let settings = *settings;
        let ids = self.ids.unwrap_or_default().into_iter();
        let groups = self.groups.unwrap_or_default().into_iter();
        let lanes = self.lanes.unwrap_or_default().into_iter();
        let fences = self.fences.unwrap_or_default().into_iter();
        let attempts = self.attempts.unwrap_or_default().into_iter();
        let max_attempts = self.max_attempts.unwrap_or_default().into_iter();
        let waited_ms = self.waited_ms.unwrap_or_default().into_iter();
        let payloads = self.payloads.unwrap_or_default().into_iter();
        ids.zip(groups.zip(lanes))
            .zip(fences)
            .zip(attempts.zip(max_attempts))
            .zip(waited_ms)
            .zip(payloads)
            .map(
                move |(
                    ((((id, (group, lane)), fence), (attempt, max_attempts)), waited_ms),
                    payload,
                )| {
                    let run = Run {
                        job: JobId(id),
                        queue: settings.queue,
                        group: Group(group),
                        lane: Lane(lane),
                        attempt: attempt.unsigned_abs(),
                        max_attempts: max_attempts.unsigned_abs(),
                        waited: Duration::from_millis(u64::try_from(waited_ms).unwrap_or(0)),
                    };
                    let retry = settings.retry;
                    (Claim { run, fence, retry }, payload)
                },
            )
    }
}
