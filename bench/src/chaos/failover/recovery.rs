//! How soon the service works again: from the moment when the database can be written to, until all
//! processes work.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use futures::future::{join_all, try_join_all};
use serde::{Deserialize, Serialize};

use super::super::client::{Customers, Ledger};
use crate::{
    http::{self, Client},
    processes::Process,
    report::Line,
    stack::Stack,
};

/// The longest wait.
const LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(50);
/// The texts that are submitted here have higher numbers than all others.
const FIRST: u64 = 1 << 40;

/// Seconds since the database could be written to.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Recovery {
    /// Until every API process had answered a new submission with 200.
    pub(super) accepted: f64,
    /// Until each of these was decided.
    pub(super) decided: f64,
    /// Until every worker process had finished a job.
    pub(super) workers: f64,
}

impl Recovery {
    /// Until all of it worked.
    pub(super) fn seconds(self) -> f64 {
        self.decided.max(self.workers)
    }

    /// As lines of a table.
    pub(super) fn lines(self) -> [Line; 3] {
        let fact = |name, seconds| Line::fact(name, format!("{seconds:.2} s"));
        [
            fact("every API has accepted an item after", self.accepted),
            fact("these are decided after", self.decided),
            fact("every worker has finished a job after", self.workers),
        ]
    }
}

/// Measures recoveries.
pub(super) struct Observer<'a> {
    customers: &'a Customers,
    ledger: &'a RefCell<Ledger>,
    number: Cell<u64>,
}

impl<'a> Observer<'a> {
    pub(super) const fn new(customers: &'a Customers, ledger: &'a RefCell<Ledger>) -> Self {
        Self {
            customers,
            ledger,
            number: Cell::new(FIRST),
        }
    }

    /// Waits until all processes work, for at most a minute.
    pub(super) async fn observe(
        &self,
        stack: &Stack,
        writable: Instant,
    ) -> anyhow::Result<Recovery> {
        let apis = (0..stack.apis.len()).map(|api| self.decide(api, writable));
        let workers = stack.workers.iter().map(|worker| finish(worker, writable));
        let (apis, workers) = tokio::join!(try_join_all(apis), join_all(workers));
        let (accepted, decided): (Vec<_>, Vec<_>) = apis?.into_iter().unzip();
        let last = |times: Vec<Duration>| times.into_iter().max().unwrap_or(LIMIT).as_secs_f64();
        Ok(Recovery {
            accepted: last(accepted),
            decided: last(decided),
            workers: last(workers),
        })
    }

    /// Submits an item to an API process; when it was accepted, and when decided.
    async fn decide(&self, api: usize, writable: Instant) -> anyhow::Result<(Duration, Duration)> {
        let number = self.number.replace(self.number.get() + 1);
        let media = self.customers.submit_to(api, number, self.ledger).await?;
        let accepted = writable.elapsed();
        let key = &self.customers.sites[self.customers.site(number)].key;
        let query = http::status_query(key, media);
        let mut client = Client::new(self.customers.apis[api]);
        while writable.elapsed() < LIMIT {
            if is_decided(&mut client, &query).await? {
                break;
            }
            tokio::time::sleep(POLL).await;
        }
        Ok((accepted, writable.elapsed()))
    }
}

/// Whether the item is decided. False if there is no answer.
async fn is_decided(client: &mut Client, query: &[u8]) -> anyhow::Result<bool> {
    #[derive(Deserialize)]
    struct Told {
        status: String,
    }

    match client.send(query).await {
        Ok(answer) if answer.status == 200 => {
            let told: Told = serde_json::from_slice(&answer.body).context("a status")?;
            Ok(told.status != "pending")
        }
        _ => Ok(false),
    }
}

/// When a worker process had finished a job.
async fn finish(worker: &Process, writable: Instant) -> Duration {
    let mut before = None;
    while writable.elapsed() < LIMIT {
        if let Ok(finished) = worker
            .metric("gatehouse_jobs_finished_total", "\"done\"")
            .await
            && finished > *before.get_or_insert(finished)
        {
            break;
        }
        tokio::time::sleep(POLL).await;
    }
    writable.elapsed()
}
