//! Rounds of status queries, each beside the same server without a database.

use std::time::Duration;

use anyhow::ensure;
use sqlx::PgConnection;

use super::table::Round;
use crate::{
    http,
    load::{self, Extent},
    postgres_cost::Meter,
    requests::Requests,
    stack::Stack,
};

const CEILING: Duration = Duration::from_secs(3);
pub(super) struct Bench<'a> {
    pub(super) stack: &'a Stack,
    pub(super) conn: PgConnection,
    pub(super) queries: Requests,
    pub(super) connections: usize,
    pub(super) duration: Duration,
}

impl Bench<'_> {
    pub(super) async fn round(&mut self) -> anyhow::Result<Round> {
        let healthz = Requests::new([http::get("/healthz")]);
        let ceiling = Extent::Lasting(CEILING.min(self.duration));
        let address = self.stack.apis[0].address;
        let ceiling = load::closed(address, &healthz, self.connections, ceiling).await?;
        let meter = Meter::start(&mut self.conn).await?;
        let asked = self.ask(self.duration).await?;
        let cost = meter.stop(&mut self.conn, asked.answered).await?;
        self.expect_counting().await?;
        Ok(Round {
            rate: asked.rate(),
            latency: asked.latencies.percentiles(),
            cost,
            ceiling_rate: ceiling.rate(),
        })
    }

    pub(super) async fn ask(&self, duration: Duration) -> anyhow::Result<load::Throughput> {
        let address = self.stack.apis[0].address;
        let extent = Extent::Lasting(duration);
        load::closed(address, &self.queries, self.connections, extent).await
    }

    /// The rate of every key must have been counted.
    async fn expect_counting(&mut self) -> anyhow::Result<()> {
        let counted: i64 = sqlx::query_scalar(
            "select count(*) from rate_windows where policy = 'status' and given > 0",
        )
        .fetch_one(&mut self.conn)
        .await?;
        ensure!(
            usize::try_from(counted)? == self.stack.sites.len().min(self.queries.len()),
            "the rates of {counted} keys were counted"
        );
        Ok(())
    }
}
