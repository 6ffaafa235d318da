//! The other side of the comparison: processes that do what they are told, statement by statement, and their tables.

use std::{
    collections::HashMap,
    slice,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{PgPool, Postgres, pool::PoolConnection};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    Group, JobId, NewJobs, Offer, burial,
    checkpoint::reach,
    dead,
    effect::AnyEffect,
    enqueue::enqueue,
    heartbeat,
    held::{Enqueued, insert},
    hold::{Claim, Hold},
    lanes,
    outcome::{Ended, Outcome as Actually},
    rescue,
    settle::settle,
    strays,
};

use super::{
    process::Process,
    seen::{self, Seen, number},
    state::{Action, Commit, Hand, Protocol, Stage, State},
    work::{Applied, LANE, QUEUE, actually, new_job, settings},
};

/// A claim in the hands of its worker.
enum InHand {
    Answered(Claim),
    Held(Arc<Hold>),
    /// Ended, or at a checkpoint.
    Ended(Ended),
    /// Inserted as this worker's, and not handed over yet.
    Inserted(Box<Inserted>),
}

struct Inserted {
    offer: Offer,
    jobs: NewJobs,
    places: Vec<i32>,
    ids: Vec<Option<i64>>,
}

pub(super) struct Actual {
    pool: PgPool,
    processes: Vec<Process>,
    /// The ids of the model's jobs.
    jobs: Vec<JobId>,
    hands: HashMap<Hand, InHand>,
    /// Follow-up jobs that wait for the answer to a commit.
    unanswered: HashMap<Hand, Enqueued>,
    max_attempts: u16,
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
            unanswered: HashMap::new(),
            max_attempts: 1,
        }
    }

    /// Everything as at the model's start.
    pub(super) async fn reset(&mut self, protocol: Protocol) {
        self.hands.clear();
        self.unanswered.clear();
        for process in &mut self.processes {
            process.suspects.clear();
            process.work(protocol.cap);
        }
        sqlx::raw_sql(
            "truncate queue.jobs, queue.dead_jobs, queue.workers, queue.lanes, effects, obituaries",
        )
        .execute(&self.pool)
        .await
        .unwrap();
        for worker in 0..protocol.workers {
            self.start(worker).await;
        }
        self.max_attempts = protocol.max_attempts.unsigned_abs().into();
        let jobs: NewJobs = (0..protocol.jobs)
            .map(|_| new_job(self.max_attempts))
            .collect();
        enqueue(&mut *self.conn().await, &jobs).await.unwrap();
        self.jobs.clear();
        self.find_new_jobs().await;
    }

    /// Whatever the tables hold of the jobs.
    pub(super) async fn look(&self) -> Vec<Seen> {
        let processes = self.processes.iter();
        let workers: Vec<_> = processes.map(|one| one.queue.worker_id()).collect();
        seen::look(&self.pool, &self.jobs, &workers).await
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
                let lives = |hand: Hand| {
                    state
                        .claim(hand)
                        .is_some_and(|claim| claim.worker != worker)
                };
                self.hands.retain(|&hand, _| lives(hand));
                self.unanswered.retain(|&hand, _| lives(hand));
                self.start(state.workers.len()).await;
            }
            Action::Insert { worker } => self.insert(worker).await,
            Action::Arrive(hand) => self.arrive(state, hand),
            Action::LoseAnswer(hand) => drop(self.hands.remove(&hand)),
            Action::End(hand, outcome) => {
                let Some(InHand::Held(hold)) = self.hands.remove(&hand) else {
                    unreachable!("it is held");
                };
                let step = state.claim(hand).unwrap().step;
                let outcome = actually(outcome, number(step), self.max_attempts);
                self.hands
                    .insert(hand, InHand::Ended(Ended { hold, outcome }));
            }
            Action::Checkpoint(hand) => self.reach(state, hand).await,
            // What was rolled back leaves nothing.
            Action::Write(_, Commit::Lost { written: false })
            | Action::Record(_, Commit::Lost { written: false }) => {}
            Action::Write(hand, commit) => {
                self.promote().await;
                let (_, follow_ups) = self.write(protocol, state, hand).await?;
                self.find_new_jobs().await;
                if commit == Commit::Answered {
                    self.hands.remove(&hand);
                    self.hand_over(state, hand, follow_ups);
                } else {
                    self.unanswered.insert(hand, follow_ups);
                }
            }
            Action::Record(hand, commit) => {
                let (survives, _) = self.write(protocol, state, hand).await?;
                if commit == Commit::Answered {
                    self.answer(hand, survives);
                }
            }
            Action::LookUp(hand) => self.look_up(state, hand),
            Action::LookUpInVain(hand) => drop(self.unanswered.remove(&hand)),
            Action::Pause => {
                lanes::pause(&mut *self.conn().await, QUEUE, LANE, None)
                    .await
                    .unwrap();
            }
            Action::Resume => {
                lanes::resume(&mut *self.conn().await, QUEUE, LANE)
                    .await
                    .unwrap();
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

    /// Enqueues a job from outside of a run, and takes it if it may.
    async fn insert(&mut self, worker: usize) {
        self.promote().await;
        let jobs = NewJobs::from(new_job(self.max_attempts));
        let offer = self.processes[worker].queue.offer(&jobs);
        let (places, ids) = insert(&mut *self.conn().await, &offer, &jobs)
            .await
            .unwrap();
        self.find_new_jobs().await;
        if ids == [None] {
            return;
        }
        let hand = Hand {
            job: self.jobs.len() - 1,
            fence: 1,
        };
        let inserted = Inserted {
            offer,
            jobs,
            places,
            ids,
        };
        self.hands
            .insert(hand, InHand::Inserted(Box::new(inserted)));
    }

    fn arrive(&mut self, state: &State, hand: Hand) {
        match self.hands.remove(&hand) {
            Some(InHand::Answered(claim)) => {
                let holds = &self.process(state, hand).queue.shared().holds;
                let hold = Hold::new(claim, Instant::now(), holds, TaskTracker::new().token())
                    .expect("a claim comes once");
                self.hands.insert(hand, InHand::Held(hold));
            }
            Some(InHand::Inserted(inserted)) => {
                let Inserted {
                    offer,
                    jobs,
                    places,
                    ids,
                } = *inserted;
                offer.committed(&jobs, &places, &ids);
                self.receive(state, hand);
            }
            _ => unreachable!("it was claimed"),
        }
    }

    /// A run comes to a checkpoint.
    async fn reach(&mut self, state: &State, hand: Hand) {
        let Some(InHand::Held(hold)) = self.hands.remove(&hand) else {
            unreachable!("it is held");
        };
        let effect = AnyEffect::new(Applied {
            step: number(state.claim(hand).unwrap().step),
            follow_up: None,
        });
        let (reached, _) = reach(hold, effect).await.expect("its run goes on");
        self.hands.insert(hand, InHand::Ended(reached));
    }

    /// A commit is found to be made, or not.
    fn look_up(&mut self, state: &State, hand: Hand) {
        match state.claim(hand).map(|claim| claim.stage) {
            Some(Stage::InDoubt { was_written: true }) => self.answer(hand, true),
            Some(Stage::Unanswered {
                was_written: true, ..
            }) => {
                if let Some(follow_ups) = self.unanswered.remove(&hand) {
                    self.hand_over(state, hand, follow_ups);
                }
            }
            _ => {}
        }
    }

    /// A checkpoint is answered.
    fn answer(&mut self, hand: Hand, survives: bool) {
        let Some(InHand::Ended(Ended {
            hold,
            outcome: Actually::Checkpoint { answer, .. },
        })) = self.hands.remove(&hand)
        else {
            unreachable!("it is at a checkpoint");
        };
        if survives {
            answer.recorded();
            let fence = hand.fence + 1;
            self.hands
                .insert(Hand { fence, ..hand }, InHand::Held(hold));
        } else {
            answer.refused();
        }
    }

    /// The commit is answered that enqueued these.
    fn hand_over(&mut self, state: &State, by: Hand, follow_ups: Enqueued) {
        let shared = self.process(state, by).queue.shared().clone();
        follow_ups.committed(&shared);
        self.receive(state, by);
    }

    /// Takes in hand what a worker was handed.
    fn receive(&mut self, state: &State, by: Hand) {
        for hold in self.process(state, by).hands.take() {
            let job = self.jobs.iter().position(|&id| id == hold.claim.job);
            let job = job.expect("it was found before");
            self.hands
                .insert(Hand { job, fence: 1 }, InHand::Held(hold));
        }
    }

    /// Promotes what has become due, as any claim would: new jobs come after it.
    async fn promote(&self) {
        sqlx::query("update queue.jobs set state = 0 where state = 2 and run_at <= now()")
            .execute(&self.pool)
            .await
            .unwrap();
    }

    /// Gives a worker its lease.
    async fn start(&self, worker: usize) {
        self.processes[worker]
            .queue
            .shared()
            .lease
            .renew(Instant::now());
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
        self.processes[worker].queue.shared().lease.lapse();
        if is_alive {
            sqlx::query("update queue.workers set expires_at = now() where id = $1")
                .bind(id)
                .execute(&self.pool)
                .await
                .unwrap();
        } else {
            heartbeat::surrender(&mut *self.conn().await, id)
                .await
                .unwrap();
        }
    }

    /// Writes an outcome with its effect, in one transaction; nothing survives but what the model says is ours.
    async fn write(
        &mut self,
        protocol: Protocol,
        state: &State,
        hand: Hand,
    ) -> Result<(bool, Enqueued), String> {
        let Some(InHand::Ended(ended)) = self.hands.remove(&hand) else {
            unreachable!("it has ended");
        };
        let Process { queue, link, .. } = self.process(state, hand);
        let written = settle(queue.shared(), link, slice::from_ref(&ended))
            .await
            .unwrap();
        let claimed = (ended.hold.claim.job, ended.hold.fence());
        self.hands.insert(hand, InHand::Ended(ended));
        let survives = written.survivors.contains(&claimed);
        if survives == protocol.is_ours(state, hand) {
            Ok((survives, written.follow_ups))
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
