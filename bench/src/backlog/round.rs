//! One row: its backlog is there before its workers start, and lasts until they are stopped.

use std::{io, time::Duration};

use anyhow::ensure;
use futures::future::try_join_all;
use serde::Deserialize;
use sqlx::PgConnection;
use store::jobs::ANALYSIS;

use super::{
    KEY,
    row::Row,
    table::{Bottleneck, Measured},
};
use crate::{
    http::{self, Client},
    load::{Ticks, accepted, ticks},
    postgres_cost::empty_tables,
    processes::Kind,
    provider::Provider,
    stack::Stack,
    texts::Texts,
};

/// How long workers work before anything is measured.
const WARM_UP_SECONDS: u64 = 5;
/// How much longer the backlog lasts than it must if the arithmetic is right.
const SPARE: f64 = 1.5;
/// Connections that submit.
const CONNECTIONS: usize = 32;
const TEXT_BYTES: usize = 300;

/// The installation, and what was done with it so far.
pub(super) struct Bench {
    pub(super) stack: Stack,
    pub(super) conn: PgConnection,
    pub(super) provider: Provider,
    /// How long the provider takes.
    pub(super) answers_after: Duration,
    pub(super) seconds: u64,
    pub(super) texts: Texts,
    /// So that no two texts are the same.
    pub(super) submitted: u64,
    /// Workers that were started, so that each has its own log.
    pub(super) started: usize,
}

/// What the database says at one moment of its clock.
struct Moment {
    seconds: f64,
    verdicts: u32,
    undecided: u32,
}

/// What `gatehouse queue status` prints, as far as it is read here.
#[derive(Deserialize)]
struct Status {
    queues: Vec<OfQueue>,
}

#[derive(Deserialize)]
struct OfQueue {
    queue: String,
    bound: Option<Bottleneck>,
}

impl Bench {
    pub(super) async fn measure(&mut self, row: Row) -> anyhow::Result<Measured> {
        empty_tables(&mut self.conn).await?;
        let most_a_second = row.most_a_second(self.answers_after);
        let lasting = ticks(most_a_second * SPARE, WARM_UP_SECONDS + self.seconds);
        // Workers have claimed some jobs before they can run them.
        self.submit(row, lasting + u64::from(4 * row.slots()))
            .await?;
        self.start_workers(row).await?;
        tokio::time::sleep(Duration::from_secs(WARM_UP_SECONDS)).await;

        self.provider.refill();
        let before = self.moment().await?;
        tokio::time::sleep(Duration::from_secs(self.seconds)).await;
        let after = self.moment().await?;
        let asked = self.provider.asked();
        let bound = self.bound().await?;

        for mut worker in self.stack.workers.drain(..) {
            worker.stop().await?;
        }
        ensure!(
            after.undecided > 2 * row.slots(),
            "{row}: the backlog did not last: only {} items are left",
            after.undecided
        );
        let decided = after.verdicts - before.verdicts;
        ensure!(
            asked.limited == 0 && asked.answered + u64::from(row.slots()) >= decided.into(),
            "{row}: {decided} items got a verdict, but the provider answered only {}",
            asked.answered
        );
        let seconds = after.seconds - before.seconds;
        let a_second = f64::from(decided) / seconds;
        Ok(Measured {
            row,
            seconds,
            verdicts: decided,
            a_second,
            most_a_second,
            ratio: a_second / most_a_second,
            requests_at_once: asked.most_at_once,
            most_requests_at_once: row.requests_at_once(),
            bound,
            undecided: after.undecided,
        })
    }

    /// Stores so many texts, of the row's teams in turn, each with one job. Nobody works on them yet.
    async fn submit(&mut self, row: Row, count: u64) -> anyhow::Result<()> {
        let load = Ticks::at_once(count);
        let sites = &self.stack.sites[..row.teams as usize];
        let (address, texts, first) = (self.stack.apis[0].address, self.texts, self.submitted);
        let clients = (0..CONNECTIONS).map(|_| async {
            let mut client = Client::new(address);
            while let Some(tick) = load.next().await {
                let number = first + tick.index;
                let site = &sites[usize::try_from(tick.index)? % sites.len()];
                let text = texts.plain(number, TEXT_BYTES);
                let request = http::submission(&site.key, &format!("item-{number}"), &text);
                accepted(&client.send(&request).await.map_err(io::Error::from)?)?;
            }
            anyhow::Ok(())
        });
        try_join_all(clients).await?;
        self.submitted += count;
        let (jobs, events): (i64, i64) = sqlx::query_as(
            "select (select count(*) from queue.jobs where queue = $1), (select count(*) from events)",
        )
        .bind(ANALYSIS.as_str())
        .fetch_one(&mut self.conn)
        .await?;
        ensure!(
            jobs == i64::try_from(count)? && events == 0,
            "{row}: {count} items were submitted, but {jobs} jobs wait, and {events} events were stored already"
        );
        // As autovacuum does in every real installation.
        for statement in ["vacuum analyze media, queue.jobs", "checkpoint"] {
            sqlx::query(statement).execute(&mut self.conn).await?;
        }
        Ok(())
    }

    /// Starts workers with the row's settings, and waits until all are ready.
    async fn start_workers(&mut self, row: Row) -> anyhow::Result<()> {
        let address = self.provider.address;
        let limit = row.provider_concurrency;
        let file = format!(
            "[[provider]]\nname = \"slow\"\nkind = \"openai\"\nurl = \"http://{address}\"\nkey_env = \"{KEY}\"\nconcurrency = {limit}\n"
        );
        let file = self.stack.write("providers.toml", &file)?;
        let mut gatehouse = self.stack.gatehouse.clone();
        gatehouse.environment.extend([
            ("GATEHOUSE_PROVIDERS_FILE", file.display().to_string()),
            ("GATEHOUSE_CONCURRENCY", row.concurrency.to_string()),
        ]);
        let first = self.started;
        self.started += row.workers as usize;
        let starting = (first..self.started).map(|number| gatehouse.start(Kind::Worker, number));
        self.stack.workers = try_join_all(starting).await?;
        Ok(())
    }

    async fn moment(&mut self) -> anyhow::Result<Moment> {
        let (seconds, verdicts, undecided): (f64, i64, i64) = sqlx::query_as(
            "
            select
                extract(epoch from statement_timestamp())::float8,
                (select count(*) from verdicts),
                (select count(*) from media where status = 'pending')
            ",
        )
        .fetch_one(&mut self.conn)
        .await?;
        Ok(Moment {
            seconds,
            verdicts: verdicts.try_into()?,
            undecided: undecided.try_into()?,
        })
    }

    /// What holds the analysis back, as operators are told.
    async fn bound(&self) -> anyhow::Result<Option<Bottleneck>> {
        let status = self.stack.gatehouse.read(&["queue", "--json", "status"]);
        let Status { queues } = serde_json::from_value(status.await?)?;
        let analysis = queues
            .into_iter()
            .find(|queue| queue.queue == ANALYSIS.as_str());
        Ok(analysis.and_then(|queue| queue.bound))
    }
}
