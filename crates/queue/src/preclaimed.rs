//! Preclaimed jobs, which the enqueuing process takes at once: they are inserted as already claimed by it, in
//! the transaction that creates them, and handed to its own workers after the commit. They need no
//! claim, no wake-up and no poll.
//!
//! A worker takes such jobs only while its buffer is less than half full. A backlog is left to
//! claims, which divide it among all groups and lanes. Other jobs are inserted in the usual way.

use std::{
    collections::HashMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Group, JobId, Lane, NewJobs, Run,
    enqueue::enqueue,
    in_flight::{Claim, InFlightJob},
    local_workers::ReservedPlaces,
    metrics,
    shared::Shared,
};

/// The most jobs of one transaction that are considered. More count as a backlog.
const MOST: usize = 1000;

/// The jobs that were inserted, by their places, and the ids of those that this worker holds.
type Inserted = HashMap<usize, Option<JobId>>;

/// Preclaimed jobs that wait for the commit of their insertion, with their places among the new jobs.
/// Dropping them forgets them, as after a rollback.
type Uncommitted = Vec<OfLane<(Arc<InFlightJob>, usize)>>;

/// Jobs that are enqueued in a transaction that is not committed yet. Some of them are claimed by this
/// worker.
#[derive(Default)]
pub(crate) struct Enqueued {
    pub(crate) jobs: NewJobs,
    inserted: Inserted,
    taken: Uncommitted,
}

impl Enqueued {
    /// After the commit: hands over, counts and wakes.
    pub(crate) fn committed(self, shared: &Shared) {
        announce(shared, &self.jobs, &self.inserted, self.taken);
    }
}

/// Enqueues jobs, and takes those that this process's workers have room for.
///
/// They are tracked before the commit, because its answer may take long, and the sweep for orphans must
/// not give them to others meanwhile.
pub(crate) async fn enqueue_preclaimed(
    conn: &mut PgConnection,
    shared: &Arc<Shared>,
    jobs: NewJobs,
) -> Result<Enqueued, sqlx::Error> {
    if jobs.is_empty() {
        return Ok(Enqueued::default());
    }
    let reservation = Reservation::new(shared.clone(), &jobs);
    if reservation.lanes.is_empty() {
        enqueue(conn, &jobs).await?;
        let places = reservation.places;
        let inserted = inserted(&places, &vec![None; places.len()]);
        return Ok(Enqueued {
            jobs,
            inserted,
            taken: Uncommitted::new(),
        });
    }
    let (places, ids) = insert(conn, &reservation, &jobs).await?;
    let inserted = inserted(&places, &ids);
    let taken = reservation.take(&jobs, &inserted);
    Ok(Enqueued {
        jobs,
        inserted,
        taken,
    })
}

/// Inserts all of these jobs, some as already claimed. Returns their places, and the ids of those
/// that were claimed.
pub(crate) async fn insert(
    conn: &mut PgConnection,
    reservation: &Reservation,
    jobs: &NewJobs,
) -> Result<(Vec<i32>, Vec<Option<i64>>), sqlx::Error> {
    let columns = jobs.columns()?;
    let held = reservation.columns();
    let answer = sqlx::query!(
        r#"select places as "places!", ids as "ids!: Vec<Option<i64>>"
           from queue.enqueue_held($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"#,
        held.worker,
        held.places,
        columns.queues as &[&str],
        columns.groups,
        columns.lanes,
        columns.payloads,
        columns.formats,
        columns.priorities,
        columns.delays_ms,
        columns.max_attempts,
        held.wanted,
        held.group_caps as &[Option<i32>],
        held.lane_caps as &[Option<i32>],
    )
    .fetch_one(conn)
    .await?;
    Ok((answer.places, answer.ids))
}

/// Which of some new jobs a process's own workers have room for. Made by
/// [`Queue::reserve`](crate::Queue::reserve).
///
/// Dropping it gives the room back. Do that if the jobs were not inserted.
pub struct Reservation {
    shared: Arc<Shared>,
    /// Taken before the jobs are inserted: the worker's lease must hold from here on.
    since: Instant,
    /// With the places of the jobs among the new jobs.
    lanes: Vec<OfLane<usize>>,
    places: Vec<i32>,
    wanted: Vec<bool>,
    group_caps: Vec<Option<i32>>,
    lane_caps: Vec<Option<i32>>,
}

/// Room for some of the jobs of one lane, and these jobs.
struct OfLane<J> {
    room: Box<dyn ReservedPlaces>,
    jobs: Vec<J>,
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
            let Some(local_worker) = self.shared.local_workers.of(queue) else {
                continue;
            };
            let wanted = places.len();
            let room = local_worker.reserve(Group(*group), Lane(*lane), wanted);
            places.truncate(room.jobs());
            let settings = room.settings();
            let cap = |cap: u32| i32::try_from(cap).unwrap_or(i32::MAX);
            for &place in &places {
                self.wanted[place] = true;
                self.group_caps[place] = settings.group_cap.map(cap);
                self.lane_caps[place] = settings.lane_cap.map(cap);
            }
            if !places.is_empty() {
                let jobs = places;
                self.lanes.push(OfLane { room, jobs });
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
        let inserted = inserted(places, ids);
        // If an answer comes later than two sweeps for orphans, its jobs may already belong to
        // others.
        let is_late = self.since.elapsed() >= shared.config.deadline;
        let taken = if is_late {
            Uncommitted::new()
        } else {
            self.take(jobs, &inserted)
        };
        announce(&shared, jobs, &inserted, taken);
    }

    /// Tracks the jobs that were inserted as claimed by this worker.
    fn take(self, jobs: &NewJobs, inserted: &Inserted) -> Uncommitted {
        let Ok(columns) = jobs.columns() else {
            return Uncommitted::new();
        };
        let mut taken = Uncommitted::new();
        for OfLane { room, jobs } in self.lanes {
            let settings = room.settings();
            let mut taken_here = Vec::new();
            for place in jobs {
                let Some(&Some(job)) = inserted.get(&place) else {
                    continue;
                };
                let run = Run {
                    job,
                    queue: settings.queue,
                    group: Group(columns.groups[place]),
                    lane: Lane(columns.lanes[place]),
                    attempt: 1,
                    max_attempts: columns.max_attempts[place].unsigned_abs(),
                    waited: Duration::ZERO,
                };
                let claim = Claim {
                    run,
                    fence: 1,
                    retry: settings.retry,
                };
                if let Some(in_flight) = room.track(claim, self.since) {
                    taken_here.push((in_flight, place));
                }
            }
            if !taken_here.is_empty() {
                let jobs = taken_here;
                taken.push(OfLane { room, jobs });
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

/// From the answer of `queue.enqueue_held`.
fn inserted(places: &[i32], ids: &[Option<i64>]) -> Inserted {
    let place = |place: i32| usize::try_from(place).ok();
    let pairs = places.iter().zip(ids);
    pairs
        .filter_map(|(&at, id)| Some((place(at)?, id.map(JobId))))
        .collect()
}

/// After the commit: hands over the jobs that were taken, counts all that were inserted, and wakes
/// the queues of due jobs that nobody holds.
fn announce(shared: &Shared, jobs: &NewJobs, inserted: &Inserted, taken: Uncommitted) {
    if let Ok(columns) = jobs.columns() {
        for OfLane { room, jobs } in taken {
            if let Some((in_flight, _)) = jobs.first() {
                metrics::handed_over(in_flight.run.queue, jobs.len() as u64);
            }
            let payload = |place: usize| columns.payloads[place].as_str();
            let jobs = jobs.into_iter();
            room.fill(
                jobs.map(|(in_flight, at)| (in_flight, payload(at)))
                    .collect(),
            );
        }
    }
    let inserted = jobs
        .due()
        .enumerate()
        .filter_map(|(place, (queue, is_due))| {
            let held = inserted.get(&place)?;
            Some((queue, is_due && held.is_none()))
        });
    shared.enqueued(inserted);
}
