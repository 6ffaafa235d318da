//! The other side of the comparison: processes that do what they are told, statement by statement,
//! and their tables.

mod actions;
mod in_flight;
mod tables;

use std::{collections::HashMap, sync::Arc, time::Duration};

use sqlx::{PgPool, Postgres, pool::PoolConnection};
use uuid::Uuid;

use crate::{
    Group, JobId, NewJobs, Reservation, Run, dead_letter,
    enqueue::enqueue,
    in_flight::{Claim, InFlightJob},
    outcome::Ended,
    preclaimed::Enqueued,
    rescue,
};

use super::{
    configuration::Protocol,
    observed::{self, Seen, number},
    process::Process,
    state::{Hand, State},
    work::{LANE, QUEUE, new_job, settings},
};

/// A job in flight.
enum InHand {
    Answered(Claim),
    Held(Arc<InFlightJob>),
    /// Ended, or at a checkpoint.
    Ended(Ended),
    /// Inserted as this worker's, and not yet handed over.
    Inserted(Box<Inserted>),
}

struct Inserted {
    reservation: Reservation,
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
    /// With this many processes, which start one after the other.
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

    /// Resets everything to the model's start.
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

    /// What the tables hold of the jobs.
    pub(super) async fn look(&self) -> Vec<Seen> {
        let processes = self.processes.iter();
        let workers: Vec<_> = processes.map(|one| one.queue.worker_id()).collect();
        observed::look(&self.pool, &self.jobs, &workers).await
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
        let run = Run {
            job,
            queue: QUEUE,
            group: Group(LANE.0),
            lane: LANE,
            attempt: claimed.attempts?[0].unsigned_abs(),
            max_attempts: claimed.max_attempts?[0].unsigned_abs(),
            waited: Duration::ZERO,
        };
        let claim = Claim {
            run,
            fence,
            retry: settings().retry,
        };
        let hand = Hand {
            job: self.jobs.iter().position(|&id| id == job)?,
            fence: usize::try_from(fence).unwrap(),
        };
        self.hands.insert(hand, InHand::Answered(claim));
        Some(hand)
    }

    /// Takes the jobs of dead workers.
    pub(super) async fn rescue(&self) {
        let rescuer = self.processes[0].queue.shared();
        rescue::rescue(&mut *self.conn().await, rescuer)
            .await
            .unwrap();
    }

    /// Buries doomed jobs.
    pub(super) async fn move_doomed(&self) {
        let mover = self.processes[0].queue.shared();
        dead_letter::move_doomed(mover, &settings(), 100)
            .await
            .map_err(|(failure, _)| failure)
            .unwrap();
    }
}

/// The parts of actions.
impl Actual {
    async fn conn(&self) -> PoolConnection<Postgres> {
        self.pool.acquire().await.unwrap()
    }

    /// The process in which this is in flight.
    fn process(&mut self, state: &State, hand: Hand) -> &mut Process {
        &mut self.processes[state.claim(hand).unwrap().worker]
    }
}
