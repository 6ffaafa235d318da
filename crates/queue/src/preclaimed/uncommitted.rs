//! Preclaimed jobs before the commit of their insertion.

use std::{fmt, sync::Arc};

use crate::{NewJobs, in_flight::InFlightJob, local_workers::ReservedPlaces, metrics};

/// Preclaimed jobs that wait for the commit of their insertion. Dropping them forgets them, as after a
/// rollback.
#[derive(Default)]
pub(crate) struct Uncommitted(pub(super) Vec<UncommittedOfLane>);

pub(super) struct UncommittedOfLane {
    pub(super) room: Box<dyn ReservedPlaces>,
    /// With their places among the new jobs.
    pub(super) jobs: Vec<(Arc<InFlightJob>, usize)>,
}

impl Uncommitted {
    /// Hands them over, after the commit.
    pub(crate) fn hand_over(self, jobs: &NewJobs) {
        let Ok(columns) = jobs.columns() else {
            return;
        };
        for UncommittedOfLane { room, jobs } in self.0 {
            if let Some((in_flight, _)) = jobs.first() {
                metrics::handed_over(in_flight.claim.queue, jobs.len() as u64);
            }
            let payload = |place: usize| columns.payloads[place].as_str();
            let jobs = jobs.into_iter();
            room.fill(
                jobs.map(|(in_flight, at)| (in_flight, payload(at)))
                    .collect(),
            );
        }
    }
}

impl fmt::Debug for Uncommitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs = self.0.iter().flat_map(|of_lane| &of_lane.jobs);
        f.debug_list()
            .entries(jobs.map(|(in_flight, _)| in_flight.claim.job))
            .finish()
    }
}
