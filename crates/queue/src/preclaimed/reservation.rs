//! Room that a process's own workers reserve for new jobs.

use std::{
    collections::HashMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use uuid::Uuid;

use super::{
    inserted::Inserted,
    uncommitted::{Uncommitted, UncommittedOfLane},
};
use crate::{
    Group, Lane, NewJobs,
    in_flight::Claim,
    local_workers::{LocalWorker, ReservedPlaces},
    shared::Shared,
};

/// The most jobs of one transaction that are considered. More count as a backlog.
const MOST: usize = 1000;

/// Which of some new jobs a process's own workers have room for. Made by
/// [`Queue::reservation`](crate::Queue::reservation).
///
/// Dropping it gives the room back. Do that if the jobs were not inserted.
pub struct Reservation {
    shared: Arc<Shared>,
    /// Taken before the jobs are inserted: the worker's lease must hold from here on.
    since: Instant,
    pub(super) lanes: Vec<OfLane>,
    pub(super) places: Vec<i32>,
    wanted: Vec<bool>,
    group_caps: Vec<Option<i32>>,
    lane_caps: Vec<Option<i32>>,
}

/// Room for some of the jobs of one lane.
pub(super) struct OfLane {
    local_worker: Arc<dyn LocalWorker>,
    room: Box<dyn ReservedPlaces>,
    /// The jobs that it is for, by their places among the new jobs.
    jobs: Vec<usize>,
}

/// The additional arguments of the SQL function `queue.enqueue_held`, after the
/// [`Columns`](crate::Columns) of the jobs.
#[derive(Clone, Copy, Debug)]
pub struct PreclaimedColumns<'a> {
    /// `uuid`: this process.
    pub worker: Uuid,
    /// `integer[]`: numbers the jobs from 0, so that an answer can name some of them.
    pub places: &'a [i32],
    /// `boolean[]`: which jobs there is room for.
    pub wanted: &'a [bool],
    /// `integer[]`: the caps of their groups.
    pub group_caps: &'a [Option<i32>],
    /// `integer[]`: the caps of their lanes.
    pub lane_caps: &'a [Option<i32>],
}

impl Reservation {
    /// Room for as many of these jobs as possible.
    pub(crate) fn new(shared: Arc<Shared>, jobs: &NewJobs) -> Self {
        let mut reservation = Self {
            since: Instant::now(),
            lanes: Vec::new(),
            places: (0..).take(jobs.len()).collect(),
            wanted: vec![false; jobs.len()],
            group_caps: vec![None; jobs.len()],
            lane_caps: vec![None; jobs.len()],
            shared,
        };
        if reservation.shared.lease.is_held() && jobs.len() <= MOST {
            reservation.ask(jobs);
        }
        reservation
    }

    fn ask(&mut self, jobs: &NewJobs) {
        let Ok(columns) = jobs.columns() else {
            return;
        };
        let mut lanes: HashMap<_, Vec<usize>> = HashMap::new();
        let keys = columns.queues.iter().zip(columns.groups).zip(columns.lanes);
        for (place, (key, &delay_ms)) in keys.zip(columns.delays_ms).enumerate() {
            if delay_ms == 0 {
                lanes.entry(key).or_default().push(place);
            }
        }
        for (((queue, group), lane), mut places) in lanes {
            let Some(local_worker) = self.shared.local_worker(queue) else {
                continue;
            };
            let wanted = places.len();
            let room = local_worker
                .clone()
                .reserve(Group(*group), Lane(*lane), wanted);
            places.truncate(room.jobs());
            let settings = local_worker.settings();
            let cap = |cap: u32| i32::try_from(cap).unwrap_or(i32::MAX);
            for &place in &places {
                self.wanted[place] = true;
                self.group_caps[place] = settings.group_cap.map(cap);
                self.lane_caps[place] = settings.lane_cap.map(cap);
            }
            if !places.is_empty() {
                self.lanes.push(OfLane {
                    local_worker,
                    room,
                    jobs: places,
                });
            }
        }
    }

    /// The arrays to bind.
    pub fn columns(&self) -> PreclaimedColumns<'_> {
        PreclaimedColumns {
            worker: self.shared.worker,
            places: &self.places,
            wanted: &self.wanted,
            group_caps: &self.group_caps,
            lane_caps: &self.lane_caps,
        }
    }

    /// Call this after the commit, with the answer of `queue.enqueue_held` for these jobs. Hands
    /// over the jobs that this process has claimed, counts all of them, and wakes the workers that can
    /// claim the others.
    pub fn committed(self, jobs: &NewJobs, places: &[i32], ids: &[Option<i64>]) {
        let shared = self.shared.clone();
        let inserted = Inserted::new(places, ids);
        // If an answer comes later than two sweeps for orphans, its jobs may already belong to
        // others.
        let is_late = self.since.elapsed() >= shared.config.deadline;
        let taken = if is_late {
            Uncommitted::default()
        } else {
            self.take(jobs, &inserted)
        };
        taken.hand_over(jobs);
        inserted.announce(&shared, jobs);
    }

    /// Tracks the jobs that were inserted as claimed by this worker.
    pub(super) fn take(self, jobs: &NewJobs, inserted: &Inserted) -> Uncommitted {
        let Ok(columns) = jobs.columns() else {
            return Uncommitted::default();
        };
        let mut taken = Uncommitted::default();
        for of_lane in self.lanes {
            let settings = of_lane.local_worker.settings();
            let mut taken_here = Vec::new();
            for place in of_lane.jobs {
                let Some(&Some(job)) = inserted.0.get(&place) else {
                    continue;
                };
                let claim = Claim {
                    job,
                    fence: 1,
                    queue: settings.queue,
                    group: Group(columns.groups[place]),
                    lane: Lane(columns.lanes[place]),
                    attempt: 1,
                    max_attempts: columns.max_attempts[place],
                    waited: Duration::ZERO,
                    retry: settings.retry,
                };
                if let Some(in_flight) = of_lane.local_worker.track(claim, self.since) {
                    taken_here.push((in_flight, place));
                }
            }
            if !taken_here.is_empty() {
                taken.0.push(UncommittedOfLane {
                    room: of_lane.room,
                    jobs: taken_here,
                });
            }
        }
        taken
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}
