//! A newcomer's wait, and the time that claims take.

use std::time::Duration;

use sqlx::PgConnection;

use super::Options;
use crate::{
    claimer::Claimer,
    clock::now_us,
    cluster::Role,
    driver_client::DriverClient,
    environment::Environment,
    fill_queue::{analyze, empty, fill},
    latency::{Latencies, Percentiles},
    protocol::{Request, Work},
};

/// The lane of the customer with few jobs; the other's is 0.
const NEWCOMER: u64 = 1;
pub(super) const NEWCOMERS_JOBS: u64 = 10;
/// How long the backlog is worked on before the newcomer comes.
const HEAD_START: Duration = Duration::from_secs(1);
/// Jobs to a claim whose time is taken, and lanes that they are in.
pub(super) const CLAIM: i32 = 100;
pub(super) const LANES: u64 = 100;
/// How long the worker lives on after it has finished a million jobs.
const SETTLING: Duration = Duration::from_secs(5);

pub(super) struct Bench<'a> {
    pub(super) options: &'a Options,
    pub(super) environment: &'a Environment,
}

impl Bench<'_> {
    /// How long ten jobs of one customer wait for their start while another's backlog is worked on.
    pub(super) async fn newcomer(
        &self,
        conn: &mut PgConnection,
        backlog: u64,
    ) -> anyhow::Result<Percentiles> {
        empty(conn).await?;
        fill(conn, (0..backlog).map(|_| 0), Duration::ZERO).await?;
        analyze(conn, true).await?;
        let mut producer = self.driver().await?;
        let mut worker = self.driver().await?;
        worker.order(Request::Work(self.work())).await?;
        // Connections and plans are there before the clock runs.
        add(&mut producer, NEWCOMER, 20).await?;
        tokio::time::sleep(HEAD_START).await;
        worker.order(Request::Latencies).await?;
        add(&mut producer, NEWCOMER, NEWCOMERS_JOBS).await?;
        let mut waits: Vec<u64> = Vec::new();
        while (waits.len() as u64) < NEWCOMERS_JOBS {
            waits.append(&mut worker.ask(Request::Latencies).await?);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        worker.order(Request::Stop).await?;
        worker.end().await?;
        producer.end().await?;
        Ok(Latencies::of_micros(&waits).percentiles())
    }

    /// Lets a worker finish very many jobs, without any cleaning up afterwards.
    pub(super) async fn wear(&self, conn: &mut PgConnection) -> anyhow::Result<()> {
        sqlx::query("alter table queue.jobs set (autovacuum_enabled = false)")
            .execute(&mut *conn)
            .await?;
        fill(conn, mixed(self.options.million), Duration::ZERO).await?;
        analyze(conn, true).await?;
        let mut worker = self.driver().await?;
        worker.order(Request::Work(Work::FULL_SPEED)).await?;
        let ran = self.options.million;
        worker.order(Request::Await { ran }).await?;
        // A running process leaves the generation, once a second.
        tokio::time::sleep(SETTLING).await;
        worker.order(Request::Stop).await?;
        worker.end().await
    }

    /// Adds jobs, claims and finishes them, and returns how long the claims took.
    pub(super) async fn claims(
        &self,
        conn: &mut PgConnection,
        clean: bool,
    ) -> anyhow::Result<Percentiles> {
        fill(conn, mixed(self.options.claimed), Duration::ZERO).await?;
        analyze(conn, clean).await?;
        let mut claimer = Claimer::new(self.environment.cluster.connect().await?);
        let mut latencies = Latencies::new();
        loop {
            let batch = claimer.claim(CLAIM).await?;
            if batch.ids.is_empty() && !batch.more {
                return Ok(latencies.percentiles());
            }
            latencies.record(batch.took);
            claimer.finish(&batch.ids).await?;
        }
    }

    fn work(&self) -> Work {
        Work {
            concurrency: self.options.concurrency,
            prefetch: self.options.concurrency,
            job_ms: self.options.job_ms,
            ..Work::FULL_SPEED
        }
    }

    async fn driver(&self) -> anyhow::Result<DriverClient> {
        let url = self.environment.cluster.url(Role::Gatehouse);
        DriverClient::ours("queue", &url, &self.environment.directory()).await
    }
}

/// So many jobs, in all lanes by turns.
pub(super) fn mixed(jobs: u64) -> impl Iterator<Item = u64> {
    (0..jobs).map(|n| n % LANES)
}

/// Adds jobs at once, due now.
async fn add(producer: &mut DriverClient, lane: u64, count: u64) -> anyhow::Result<()> {
    let due = now_us();
    for _ in 0..count {
        producer
            .tell(Request::Add {
                due,
                lane,
                urgent: false,
            })
            .await?;
    }
    producer.order(Request::Settle).await
}
