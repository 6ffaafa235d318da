//! Jobs that the enqueueing process takes at once: inserted as already claimed by it, in the transaction that makes them, and
//! handed to its own workers after the commit. They need no claim, no wake-up and no poll.
//!
//! A worker takes such jobs only while its buffer is less than half full, so that a backlog is left to claims, which share it out
//! among all groups and lanes. What it does not take is inserted as any other job.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Group, JobId, Lane, NewJobs,
    enqueue::enqueue,
    hold::{Claim, Hold},
    metrics,
    shared::Shared,
    takers::{Places, Taker},
};

/// The most jobs of one transaction that are looked at: more are a backlog.
const MOST: usize = 1000;

/// What a process's own workers have room for, of some new jobs. Made by [`Queue::offer`](crate::Queue::offer).
///
/// Dropping it gives the room back: do that when the jobs were not inserted.
pub struct Offer {
    shared: Arc<Shared>,
    /// Before the jobs are inserted: the worker's lease must hold from here on.
    since: Instant,
    lanes: Vec<OfLane>,
    places: Vec<i32>,
    wanted: Vec<bool>,
    group_caps: Vec<Option<i32>>,
    lane_caps: Vec<Option<i32>>,
}

/// Room for some of the jobs of one lane.
struct OfLane {
    taker: Arc<dyn Taker>,
    room: Box<dyn Places>,
    /// The jobs that it is for, by their places among the new jobs.
    jobs: Vec<usize>,
}

/// The further arguments of the SQL function `queue.enqueue_held`, beside the [`Columns`](crate::Columns) of the jobs.
#[derive(Clone, Copy, Debug)]
pub struct HeldColumns<'a> {
    /// `uuid`: this process.
    pub worker: Uuid,
    /// `integer[]`: numbers the jobs from 0, so that an answer about some of them can be understood.
    pub places: &'a [i32],
    /// `boolean[]`: which jobs there is room for.
    pub wanted: &'a [bool],
    /// `integer[]`: the caps of their groups.
    pub group_caps: &'a [Option<i32>],
    /// `integer[]`: the caps of their lanes.
    pub lane_caps: &'a [Option<i32>],
}

impl Offer {
    /// Room for as many of these jobs as may be.
    pub(crate) fn new(shared: Arc<Shared>, jobs: &NewJobs) -> Self {
        let mut offer = Self {
            since: Instant::now(),
            lanes: Vec::new(),
            places: (0..).take(jobs.len()).collect(),
            wanted: vec![false; jobs.len()],
            group_caps: vec![None; jobs.len()],
            lane_caps: vec![None; jobs.len()],
            shared,
        };
        if offer.shared.lease.is_held() && jobs.len() <= MOST {
            offer.ask(jobs);
        }
        offer
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
            let Some(taker) = self.shared.taker(queue) else {
                continue;
            };
            let wanted = places.len();
            let room = taker.clone().set_aside(Group(*group), Lane(*lane), wanted);
            places.truncate(room.jobs());
            let settings = taker.settings();
            let cap = |cap: u32| i32::try_from(cap).unwrap_or(i32::MAX);
            for &place in &places {
                self.wanted[place] = true;
                self.group_caps[place] = settings.group_cap.map(cap);
                self.lane_caps[place] = settings.lane_cap.map(cap);
            }
            if !places.is_empty() {
                self.lanes.push(OfLane {
                    taker,
                    room,
                    jobs: places,
                });
            }
        }
    }

    /// The arrays to bind.
    pub fn columns(&self) -> HeldColumns<'_> {
        HeldColumns {
            worker: self.shared.worker,
            places: &self.places,
            wanted: &self.wanted,
            group_caps: &self.group_caps,
            lane_caps: &self.lane_caps,
        }
    }

    /// Says what `queue.enqueue_held` has answered for these jobs, and that it is committed: hands over those that this process
    /// holds, counts all, and wakes whoever may claim the others.
    pub fn committed(self, jobs: &NewJobs, places: &[i32], ids: &[Option<i64>]) {
        let shared = self.shared.clone();
        let inserted = Inserted::new(places, ids);
        // An answer that comes later than two sweeps for strays may find its jobs given to others.
        let is_late = self.since.elapsed() >= shared.config.deadline;
        let taken = if is_late {
            Taken::default()
        } else {
            self.take(jobs, &inserted)
        };
        taken.hand_over(jobs);
        inserted.announce(&shared, jobs);
    }

    /// Takes the jobs in hand that were inserted as this worker's.
    fn take(self, jobs: &NewJobs, inserted: &Inserted) -> Taken {
        let Ok(columns) = jobs.columns() else {
            return Taken::default();
        };
        let mut taken = Taken::default();
        for of_lane in self.lanes {
            let settings = of_lane.taker.settings();
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
                if let Some(hold) = of_lane.taker.hold(claim, self.since) {
                    taken_here.push((hold, place));
                }
            }
            if !taken_here.is_empty() {
                taken.0.push(TakenOfLane {
                    room: of_lane.room,
                    jobs: taken_here,
                });
            }
        }
        taken
    }
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offer")
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

/// The jobs that were inserted, by their places, and the ids of those that this worker holds.
#[derive(Debug, Default)]
pub(crate) struct Inserted(HashMap<usize, Option<JobId>>);

impl Inserted {
    fn new(places: &[i32], ids: &[Option<i64>]) -> Self {
        let place = |place: i32| usize::try_from(place).ok();
        let pairs = places.iter().zip(ids);
        Self(
            pairs
                .filter_map(|(&at, id)| Some((place(at)?, id.map(JobId))))
                .collect(),
        )
    }

    /// After the commit: counts the jobs that were inserted, and wakes the queues of those that are due and that nobody has
    /// in hand.
    fn announce(&self, shared: &Shared, jobs: &NewJobs) {
        let Ok(columns) = jobs.columns() else {
            return;
        };
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut due = BTreeSet::new();
        let delays = columns.queues.iter().zip(columns.delays_ms);
        for (place, (&queue, &delay_ms)) in delays.enumerate() {
            let Some(held) = self.0.get(&place) else {
                continue;
            };
            *counts.entry(queue).or_default() += 1;
            if held.is_none() && delay_ms == 0 {
                due.insert(queue);
            }
        }
        for (queue, count) in counts {
            metrics::enqueued(queue, count);
        }
        shared.wakers.wake(due);
    }
}

/// Jobs in hand that wait for the commit of their insertion. To drop them is to forget them, as when it was rolled back.
#[derive(Default)]
pub(crate) struct Taken(Vec<TakenOfLane>);

struct TakenOfLane {
    room: Box<dyn Places>,
    /// With their places among the new jobs.
    jobs: Vec<(Arc<Hold>, usize)>,
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

/// Jobs enqueued in a transaction that is not committed yet, some of them in this worker's hands.
#[derive(Debug, Default)]
pub(crate) struct Enqueued {
    pub(crate) jobs: NewJobs,
    inserted: Inserted,
    taken: Taken,
}

impl Enqueued {
    /// After the commit: hands over, counts and wakes.
    pub(crate) fn committed(self, shared: &Shared) {
        self.taken.hand_over(&self.jobs);
        self.inserted.announce(shared, &self.jobs);
    }
}

/// Enqueues jobs, and takes those that this process's workers have room for.
///
/// They are in hand before the commit, because its answer may take long, and the sweep for strays must not give them to others
/// meanwhile.
pub(crate) async fn enqueue_held(
    conn: &mut PgConnection,
    shared: &Arc<Shared>,
    jobs: NewJobs,
) -> Result<Enqueued, sqlx::Error> {
    if jobs.is_empty() {
        return Ok(Enqueued::default());
    }
    let offer = Offer::new(shared.clone(), &jobs);
    if offer.lanes.is_empty() {
        enqueue(conn, &jobs).await?;
        let places = offer.places;
        let inserted = Inserted::new(&places, &vec![None; places.len()]);
        return Ok(Enqueued {
            jobs,
            inserted,
            taken: Taken::default(),
        });
    }
    let (places, ids) = insert(conn, &offer, &jobs).await?;
    let inserted = Inserted::new(&places, &ids);
    let taken = offer.take(&jobs, &inserted);
    Ok(Enqueued {
        jobs,
        inserted,
        taken,
    })
}

/// Inserts all of these jobs, some as already claimed; returns their places, and the ids of those that were.
pub(crate) async fn insert(
    conn: &mut PgConnection,
    offer: &Offer,
    jobs: &NewJobs,
) -> Result<(Vec<i32>, Vec<Option<i64>>), sqlx::Error> {
    let columns = jobs.columns()?;
    let held = offer.columns();
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
