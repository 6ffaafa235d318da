//! Jobs that this process holds before the commit of their insertion.

use std::{fmt, sync::Arc};

use crate::{NewJobs, in_flight::Hold, metrics, local_workers::Places};

/// Held jobs that wait for the commit of their insertion. Dropping them forgets them, as after a
/// rollback.
#[derive(Default)]
pub(crate) struct Taken(pub(super) Vec<TakenOfLane>);

pub(super) struct TakenOfLane {
    pub(super) room: Box<dyn Places>,
    /// With their places among the new jobs.
    pub(super) jobs: Vec<(Arc<Hold>, usize)>,
}

impl Taken {
    /// Hands them over, after the commit.
    pub(crate) fn hand_over(self, jobs: &NewJobs) {
        let Ok(columns) = jobs.columns() else {
            return;
        };
        for TakenOfLane { room, jobs } in self.0 {
            if let Some((hold, _)) = jobs.first() {
                metrics::handed_over(hold.claim.queue, jobs.len() as u64);
            }
            let payload = |place: usize| columns.payloads[place].as_str();
            let jobs = jobs.into_iter();
            room.fill(jobs.map(|(hold, at)| (hold, payload(at))).collect());
        }
    }
}

impl fmt::Debug for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs = self.0.iter().flat_map(|of_lane| &of_lane.jobs);
        f.debug_list()
            .entries(jobs.map(|(hold, _)| hold.claim.job))
            .finish()
    }
}
