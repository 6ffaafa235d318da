//! The other side of the comparison: processes that do what they are told, statement by statement, and their tables.

use std::{
    collections::{HashMap, HashSet},
    slice,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{PgPool, Postgres, pool::PoolConnection};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    BackendSettings, Config, DeadJob, DeathCause, Effect, Finish, FinishTx, Group, JobId, Lane,
    NewJob, NewJobs, Obituary, Queue, QueueName, Retry, Survivor, burial, dead,
    effect::AnyEffect,
    enqueue::enqueue,
    hold::Hold,
    lease,
    link::Link,
    outcome::{Claim, Ended, Outcome as Actually, RetryReason},
    rescue,
    settle::settle,
    strays,
};

use super::state::{Action, Commit, Hand, Job, Outcome, Protocol, Row, State};

const QUEUE: QueueName = QueueName::new("schedules");
const LANE: Lane = Lane(Uuid::from_u128(1));
/// Never over within a test.
const LONG: Duration = Duration::from_hours(1);

/// Leaves a row with the step that its run took.
struct Applied {
    step: i32,
}

impl Effect for Applied {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for survivor in batch {
            sqlx::query("insert into effects (job, step) values ($1, $2)")
                .bind(survivor.job)
                .bind(survivor.effect.step)
                .execute(&mut *tx.conn)
                .await?;
        }
        Ok(())
    }
}

/// Leaves a row for each dead job.
struct Noted;

impl Obituary for Noted {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for job in dead {
            sqlx::query("insert into obituaries (job) values ($1)")
                .bind(job.id)
                .execute(&mut *tx.conn)
                .await?;
        }
        Ok(())
    }
}

fn settings() -> BackendSettings {
    let retry = Retry {
        initial: LONG,
        factor: 1.0,
        max: LONG,
        jitter: 0.0,
    };
    BackendSettings::new(QUEUE).retry(retry).on_dead::<Noted>()
}

/// A process without its tasks: it does nothing by itself.
struct Process {
    queue: Queue,
    link: Link,
    suspects: HashSet<(JobId, i32)>,
}

impl Process {
    /// To be opened while there are no jobs: until its tasks have ended, they do their duty.
    async fn open(pool: &PgPool) -> Self {
        let queue = Queue::open(pool.clone(), Config::default()).unwrap();
        queue.close(LONG).await;
        // For the queue's settings.
        drop(queue.backend::<()>(settings()));
        Self {
            link: Link::new(pool),
            suspects: HashSet::new(),
            queue,
        }
    }
}

/// A claim in the hands of its worker.
enum InHand {
    Answered(Claim),
    Held(Arc<Hold>),
    Ended(Ended),
}

pub(super) struct Actual {
    pool: PgPool,
    processes: Vec<Process>,
    /// The ids of the model's jobs.
    jobs: Vec<JobId>,
    hands: HashMap<Hand, InHand>,
}

/// What can be seen of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    row: Row,
    /// While there is a row.
    attempt: Option<i16>,
    /// While there is a row in `queue.jobs`.
    fence: Option<i32>,
    effects: Vec<i32>,
    obituaries: i64,
}

/// What should be seen of the jobs.
pub(super) fn expected(state: &State) -> Vec<Seen> {
    let seen = |job: &Job| Seen {
        row: match job.row {
            Row::Replayed => Row::Finished,
            row => row,
        },
        attempt: (job.row.is_in_jobs() || job.row == Row::Buried).then_some(job.attempt.into()),
        fence: job.row.is_in_jobs().then_some(number(job.claims.len())),
        effects: job.effects.iter().map(|&step| number(step)).collect(),
        obituaries: job.obituaries.into(),
    };
    state.jobs.iter().map(seen).collect()
}

fn number(small: usize) -> i32 {
    i32::try_from(small).unwrap()
}

#[derive(sqlx::FromRow)]
struct Found {
    state: Option<i16>,
    has_come: Option<bool>,
    locked_by: Option<Uuid>,
    fence: Option<i32>,
    attempt: Option<i16>,
    is_dead: bool,
    effects: Vec<i32>,
    obituaries: i64,
}

#[derive(sqlx::FromRow)]
struct Claimed {
    ids: Option<Vec<JobId>>,
    fences: Option<Vec<i32>>,
    attempts: Option<Vec<i16>>,
    max_attempts: Option<Vec<i16>>,
}

impl Actual {
    /// With that many processes to start, by and by.
    pub(super) async fn new(pool: PgPool, processes: usize) -> Self {
        sqlx::raw_sql(
            "create table effects (place serial, job bigint not null, step integer not null);
             create table obituaries (job bigint not null)",
        )
        .execute(&pool)
        .await
        .unwrap();
        let mut all = Vec::new();
        for _ in 0..processes {
            all.push(Process::open(&pool).await);
        }
        Self {
            pool,
            processes: all,
            jobs: Vec::new(),
            hands: HashMap::new(),
        }
    }

    /// Everything as at the model's start.
    pub(super) async fn reset(&mut self, protocol: Protocol) {
        self.hands.clear();
        for process in &mut self.processes {
            process.suspects.clear();
        }
        sqlx::raw_sql("truncate queue.jobs, queue.dead_jobs, queue.workers, effects, obituaries")
            .execute(&self.pool)
            .await
            .unwrap();
        for worker in 0..protocol.workers {
            self.start(worker).await;
        }
        let max_attempts = protocol.max_attempts.unsigned_abs().into();
        let job = || NewJob::new(QUEUE, LANE, &()).max_attempts(max_attempts);
        let jobs: NewJobs = (0..protocol.jobs).map(|_| job()).collect();
        enqueue(&mut *self.conn().await, &jobs).await.unwrap();
        self.jobs.clear();
        self.find_new_jobs().await;
    }

    /// Whatever the tables hold of the jobs.
    pub(super) async fn look(&self) -> Vec<Seen> {
        let found: Vec<Found> = sqlx::query_as(
            "select j.state, j.run_at <= now() as has_come, j.locked_by, j.fence,
                    coalesce(j.attempt, d.attempt) as attempt, d.id is not null as is_dead,
                    array(select e.step from effects e where e.job = i.id order by e.place) as effects,
                    (select count(*) from obituaries o where o.job = i.id) as obituaries
               from unnest($1::bigint[]) with ordinality i (id, place)
               left join queue.jobs j on j.id = i.id
               left join queue.dead_jobs d on d.id = i.id
              order by i.place",
        )
        .bind(&self.jobs)
        .fetch_all(&self.pool)
        .await
        .unwrap();
        let worker = |id: Option<Uuid>| {
            let mut processes = self.processes.iter();
            processes
                .position(|process| Some(process.queue.worker_id()) == id)
                .unwrap()
        };
        let seen = |found: Found| Seen {
            row: match (found.state, found.is_dead) {
                (None, false) => Row::Finished,
                (None, true) => Row::Buried,
                (Some(0), false) => Row::Due,
                (Some(1), false) => Row::Running(worker(found.locked_by)),
                // The next claim promotes it.
                (Some(2), false) if found.has_come == Some(true) => Row::Due,
                (Some(2), false) => Row::Scheduled,
                (Some(3), false) => Row::Doomed,
                (state, is_dead) => panic!("state {state:?}, and dead: {is_dead}"),
            },
            attempt: found.attempt,
            fence: found.fence,
            effects: found.effects,
            obituaries: found.obituaries,
        };
        found.into_iter().map(seen).collect()
    }

    /// Claims one job.
    pub(super) async fn claim(&mut self, worker: usize, cap: usize) -> Option<Hand> {
        let claimed: Claimed =
            sqlx::query_as("select * from queue.claim($1, $2, 1, $3, 8, $4, null, 0::smallint)")
                .bind(self.processes[worker].queue.worker_id())
                .bind(QUEUE.as_str())
                .bind(Uuid::nil())
                .bind(number(cap))
                .fetch_one(&self.pool)
                .await
                .unwrap();
        let (job, fence) = (claimed.ids?[0], claimed.fences?[0]);
        let claim = Claim {
            job,
            fence,
            queue: QUEUE,
            group: Group(LANE.0),
            lane: LANE,
            attempt: claimed.attempts?[0],
            max_attempts: claimed.max_attempts?[0],
            waited: Duration::ZERO,
            retry: settings().retry,
        };
        let hand = Hand {
            job: self.jobs.iter().position(|&id| id == job)?,
            fence: usize::try_from(fence).unwrap(),
        };
        self.hands.insert(hand, InHand::Answered(claim));
        Some(hand)
    }

    /// Takes what dead workers had.
    pub(super) async fn rescue(&self) {
        let rescuer = self.processes[0].queue.shared();
        rescue::rescue(&mut *self.conn().await, rescuer)
            .await
            .unwrap();
    }

    /// Buries who is doomed.
    pub(super) async fn bury(&self) {
        let undertaker = self.processes[0].queue.shared();
        burial::bury(undertaker, &settings(), 100)
            .await
            .map_err(|(failure, _)| failure)
            .unwrap();
    }

    /// Does what the model does in this state.
    pub(super) async fn act(
        &mut self,
        protocol: Protocol,
        state: &State,
        action: Action,
    ) -> Result<(), String> {
        match action {
            Action::Heartbeat { worker } => self.start(worker).await,
            Action::LeaseEnds { worker } => {
                self.end_lease(worker, state.workers[worker].is_alive).await;
            }
            Action::Crash { worker } => {
                self.hands.retain(|&hand, _| {
                    state
                        .claim(hand)
                        .is_some_and(|claim| claim.worker != worker)
                });
                self.start(state.workers.len()).await;
            }
            Action::Arrive(hand) => {
                let Some(InHand::Answered(claim)) = self.hands.remove(&hand) else {
                    unreachable!("it was claimed");
                };
                let holds = &self.process(state, hand).queue.shared().holds;
                let hold = Hold::new(claim, Instant::now(), holds, TaskTracker::new().token())
                    .expect("a claim comes once");
                self.hands.insert(hand, InHand::Held(hold));
            }
            Action::LoseAnswer(hand) => drop(self.hands.remove(&hand)),
            Action::End(hand, outcome) => {
                let Some(InHand::Held(hold)) = self.hands.remove(&hand) else {
                    unreachable!("it is held");
                };
                let step = state.claim(hand).unwrap().step;
                let outcome = actually(outcome, number(step));
                self.hands
                    .insert(hand, InHand::Ended(Ended { hold, outcome }));
            }
            // What was rolled back leaves nothing, and to ask changes nothing.
            Action::Write(_, Commit::Lost { written: false })
            | Action::LookUp(_)
            | Action::LookUpInVain(_) => {}
            Action::Write(hand, commit) => {
                self.write(protocol, state, hand).await?;
                if commit == Commit::Answered {
                    self.hands.remove(&hand);
                }
            }
            Action::Sweep { worker } => {
                let Process {
                    queue, suspects, ..
                } = &mut self.processes[worker];
                strays::sweep(queue.shared(), suspects).await.unwrap();
            }
            Action::DelayPasses { job } => {
                sqlx::query("update queue.jobs set run_at = now() where id = $1")
                    .bind(self.jobs[job])
                    .execute(&self.pool)
                    .await
                    .unwrap();
            }
            Action::ObituaryFails { .. } => self.fail_to_bury().await,
            Action::Replay { job } => {
                let ids = [self.jobs[job]];
                let filter = dead::Filter {
                    ids: Some(&ids),
                    ..dead::Filter::default()
                };
                dead::replay(&mut *self.conn().await, filter, 1)
                    .await
                    .unwrap();
                self.find_new_jobs().await;
            }
            Action::Count { .. }
            | Action::Claim { .. }
            | Action::Rescue { .. }
            | Action::Bury { .. } => {
                unreachable!("a step of its own")
            }
        }
        Ok(())
    }
}

/// What the parts of an action need.
impl Actual {
    async fn conn(&self) -> PoolConnection<Postgres> {
        self.pool.acquire().await.unwrap()
    }

    /// The process that has this in hand.
    fn process(&mut self, state: &State, hand: Hand) -> &mut Process {
        &mut self.processes[state.claim(hand).unwrap().worker]
    }

    /// Gives a worker its lease.
    async fn start(&self, worker: usize) {
        sqlx::query(
            "insert into queue.workers (id, expires_at) values ($1, now() + interval '1 hour')
             on conflict (id) do update set expires_at = excluded.expires_at",
        )
        .bind(self.processes[worker].queue.worker_id())
        .execute(&self.pool)
        .await
        .unwrap();
    }

    /// A living worker's lease expires; a dead one's row is gone.
    async fn end_lease(&self, worker: usize, is_alive: bool) {
        let id = self.processes[worker].queue.worker_id();
        if is_alive {
            sqlx::query("update queue.workers set expires_at = now() where id = $1")
                .bind(id)
                .execute(&self.pool)
                .await
                .unwrap();
        } else {
            lease::surrender(&mut *self.conn().await, id).await.unwrap();
        }
    }

    /// Writes an outcome with its effect, in one transaction; nothing survives but what the model says is ours.
    async fn write(&mut self, protocol: Protocol, state: &State, hand: Hand) -> Result<(), String> {
        let Some(InHand::Ended(ended)) = self.hands.remove(&hand) else {
            unreachable!("it has ended");
        };
        let Process { queue, link, .. } = self.process(state, hand);
        let written = settle(queue.shared(), link, slice::from_ref(&ended))
            .await
            .unwrap();
        let claim = ended.hold.claim;
        self.hands.insert(hand, InHand::Ended(ended));
        let survives = written.survivors.contains(&(claim.job, claim.fence));
        if survives == protocol.is_ours(state, hand) {
            Ok(())
        } else {
            Err(format!("whether {hand:?} survives: {survives}"))
        }
    }

    /// Tries to bury while no obituary can be written.
    async fn fail_to_bury(&self) {
        let execute = async |ddl: &'static str| sqlx::query(ddl).execute(&self.pool).await.unwrap();
        execute("alter table obituaries add constraint silence check (false) not valid").await;
        let undertaker = self.processes[0].queue.shared();
        let failed = burial::bury(undertaker, &settings(), 100).await.is_err();
        execute("alter table obituaries drop constraint silence").await;
        assert!(failed, "it had nothing to bury");
    }

    /// Learns the ids of the jobs that it does not know.
    async fn find_new_jobs(&mut self) {
        let new: Vec<JobId> =
            sqlx::query_scalar("select id from queue.jobs where id <> all ($1) order by id")
                .bind(&self.jobs)
                .fetch_all(&self.pool)
                .await
                .unwrap();
        self.jobs.extend(new);
    }
}

fn actually(outcome: Outcome, step: i32) -> Actually {
    let effect = || AnyEffect::new(Applied { step });
    let error = || "not this time".to_owned();
    match outcome {
        Outcome::Done => Actually::Finished(Finish::Done(effect())),
        Outcome::Again { charged } => Actually::Finished(Finish::Again {
            effect: effect(),
            delay: if charged { LONG } else { Duration::ZERO },
            charged,
        }),
        Outcome::Fail => Actually::Failed {
            reason: RetryReason::Error,
            error: error(),
            delay: None,
        },
        Outcome::Abort => Actually::Dead {
            cause: DeathCause::Aborted,
            error: error(),
        },
        Outcome::Release => Actually::Released,
    }
}
