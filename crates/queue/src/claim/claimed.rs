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

    /// The jobs with their payloads.
    pub(super) fn into_claims(
        mut self,
        settings: &BackendSettings,
    ) -> impl Iterator<Item = (Claim, String)> {
        let &BackendSettings { queue, retry, .. } = settings;
        let payloads = self.payloads.take().unwrap_or_default();
        let claims = payloads.into_iter().enumerate();
        claims.filter_map(move |(n, payload)| {
            let waited_ms = at(self.waited_ms.as_deref(), n)?;
            let run = Run {
                job: JobId(at(self.ids.as_deref(), n)?),
                queue,
                group: Group(at(self.groups.as_deref(), n)?),
                lane: Lane(at(self.lanes.as_deref(), n)?),
                attempt: at(self.attempts.as_deref(), n)?.unsigned_abs(),
                max_attempts: at(self.max_attempts.as_deref(), n)?.unsigned_abs(),
                waited: Duration::from_millis(u64::try_from(waited_ms).unwrap_or(0)),
            };
            let fence = at(self.fences.as_deref(), n)?;
            Some((Claim { run, fence, retry }, payload))
        })
    }
}

fn at<T: Copy>(column: Option<&[T]>, n: usize) -> Option<T> {
    column?.get(n).copied()
}
