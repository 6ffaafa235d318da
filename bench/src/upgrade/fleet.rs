//! The processes, which are replaced one by one while customers submit.

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use anyhow::ensure;
use serde::Serialize;

use super::Order;
use crate::{chaos::client::Ledger, processes::Gatehouse, stack::Stack};

/// How long new workers may take to finish the jobs of new API processes.
const EMPTIED: Duration = Duration::from_mins(2);

/// A time with one mixture of versions.
#[derive(Debug, Serialize)]
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) seconds: f64,
    pub(super) accepted: usize,
    /// Submissions without a 200.
    pub(super) failed: u64,
    /// The longest that an answer took.
    pub(super) slowest_answer: f64,
}

pub(super) struct Fleet<'a> {
    pub(super) stack: &'a mut Stack,
    pub(super) ledger: &'a RefCell<Ledger>,
    /// How long each mixture works.
    pub(super) pause: Duration,
    pub(super) stages: Vec<Stage>,
}

/// What is replaced.
#[derive(Clone, Copy)]
enum Part {
    Apis,
    Workers,
}

impl Fleet<'_> {
    pub(super) async fn there_and_back(
        &mut self,
        order: Order,
        previous: &Gatehouse,
        this: &Gatehouse,
    ) -> anyhow::Result<()> {
        let parts = match order {
            Order::WorkersFirst => [Part::Workers, Part::Apis],
            Order::ApisFirst => [Part::Apis, Part::Workers],
        };
        self.stage("the previous version works alone", async |_| Ok(()))
            .await?;
        self.stage("this version's migrations run", async |_| {
            this.run(&["migrate"]).await
        })
        .await?;
        self.stage("half of the processes are replaced", async |fleet| {
            for part in parts {
                fleet.replace(part, 0..1, this).await?;
            }
            Ok(())
        })
        .await?;
        self.stage("the others are replaced", async |fleet| {
            for part in parts {
                fleet.replace(part, 1..2, this).await?;
            }
            Ok(())
        })
        .await?;
        // As docs/operations.md says: first the API processes, then what they accepted, then the
        // workers.
        self.stage("the API processes go back", async |fleet| {
            fleet.replace(Part::Apis, 0..2, previous).await?;
            fleet.empty().await
        })
        .await?;
        self.stage("the workers go back", async |fleet| {
            fleet.replace(Part::Workers, 0..2, previous).await
        })
        .await?;
        self.stage(
            "the previous version works alone on the new schema",
            async |_| Ok(()),
        )
        .await
    }

    /// Does something, and lets the result work for a while.
    async fn stage(
        &mut self,
        name: &'static str,
        act: impl AsyncFnOnce(&mut Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        eprintln!("  {name}");
        let began = Instant::now();
        let (accepted, unknown) = {
            let mut ledger = self.ledger.borrow_mut();
            ledger.slowest = Duration::ZERO;
            ledger.unsent = 0;
            (ledger.accepted.len(), ledger.unknown.len())
        };
        act(self).await?;
        tokio::time::sleep(self.pause).await;
        let ledger = self.ledger.borrow();
        self.stages.push(Stage {
            name,
            seconds: began.elapsed().as_secs_f64(),
            accepted: ledger.accepted.len() - accepted,
            failed: (ledger.unknown.len() - unknown) as u64 + ledger.unsent,
            slowest_answer: ledger.slowest.as_secs_f64(),
        });
        Ok(())
    }

    async fn replace(
        &mut self,
        part: Part,
        places: std::ops::Range<usize>,
        version: &Gatehouse,
    ) -> anyhow::Result<()> {
        let processes = match part {
            Part::Apis => &mut self.stack.apis,
            Part::Workers => &mut self.stack.workers,
        };
        for process in &mut processes[places] {
            process.stop().await?;
            process.become_version(version.clone());
            process.start().await?;
            // Customers look at `/readyz` once a second.
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        Ok(())
    }

    /// Waits until the jobs that exist now in `analysis` and `rules` are finished.
    async fn empty(&self) -> anyhow::Result<()> {
        let mut conn = self.stack.environment.cluster.connect().await?;
        let newest: i64 = sqlx::query_scalar("select coalesce(max(id), 0) from queue.jobs")
            .fetch_one(&mut conn)
            .await?;
        let began = Instant::now();
        loop {
            let left: i64 = sqlx::query_scalar(
                "select count(*) from queue.jobs where queue in ('analysis', 'rules') and id <= $1",
            )
            .bind(newest)
            .fetch_one(&mut conn)
            .await?;
            if left == 0 {
                return Ok(());
            }
            ensure!(
                began.elapsed() < EMPTIED,
                "{left} jobs of new API processes are left"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
