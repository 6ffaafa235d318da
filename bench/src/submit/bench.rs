//! Rounds of pgbench and of Gatehouse, on emptied tables.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::ensure;
use sqlx::PgConnection;

use super::{Bodies, Options, TYPICAL_BYTES, outcome::Round};
use crate::{
    http,
    load::{self, Extent},
    pgbench::{self, Measured, Variables},
    postgres_cost::{Cost, Meter, Traces, empty_tables},
    requests::Requests,
    stack::Stack,
    texts::Texts,
};

const WARM_UP: Duration = Duration::from_secs(2);
const CEILING: Duration = Duration::from_secs(3);
/// Texts of which the mean length is taken.
const SAMPLE: u64 = 1_024;

pub(super) struct Bench<'a> {
    pub(super) stack: &'a Stack,
    /// Where the API of the other binary is.
    pub(super) other: Option<SocketAddr>,
    pub(super) conn: PgConnection,
    pub(super) requests: Requests,
    /// Whether they have an `Idempotency-Key`.
    pub(super) named: bool,
    /// Whether each comes with one job.
    pub(super) short: bool,
    pub(super) connections: usize,
    pub(super) duration: Duration,
    pub(super) script: PathBuf,
    pub(super) variables: Variables,
}

impl<'a> Bench<'a> {
    pub(super) fn prepare(
        options: &Options,
        stack: &'a Stack,
        conn: PgConnection,
        seed: u64,
        other: Option<SocketAddr>,
    ) -> anyhow::Result<Self> {
        let texts = Texts::new(seed);
        let text = |number| match options.bodies {
            Bodies::Typical => texts.plain(number, TYPICAL_BYTES),
            Bodies::Mixed => texts.get(number).body,
        };
        let mean = match options.bodies {
            Bodies::Typical => TYPICAL_BYTES,
            Bodies::Mixed => {
                let bytes = (0..SAMPLE).map(|number| text(number).len() as u64);
                usize::try_from(bytes.sum::<u64>() / SAMPLE)?
            }
        };
        let named = !options.no_idempotency_key;
        Ok(Self {
            stack,
            other,
            conn,
            requests: Requests::submissions(&stack.sites, named, text),
            named,
            short: !options.no_worker,
            connections: options.connections,
            duration: options.plan().duration,
            script: stack.write("plain.sql", pgbench::PLAIN)?,
            variables: Variables {
                sites: stack.sites.len(),
                body: texts.plain(0, mean),
            },
        })
    }

    pub(super) async fn pgbench(
        &self,
        clients: u32,
        duration: Duration,
    ) -> anyhow::Result<Measured> {
        pgbench::run(
            &self.stack.environment.cluster,
            &self.script,
            &self.variables,
            clients,
            duration,
        )
        .await
    }

    /// Measures all, in alternating order.
    pub(super) async fn round(&mut self, clients: u32, number: usize) -> anyhow::Result<Round> {
        let address = self.stack.apis[0].address;
        let (plain, own, other) = if number % 2 == 1 {
            let plain = self.plain(clients).await?;
            let own = self.submit(address).await?;
            (plain, own, self.beside().await?)
        } else {
            let other = self.beside().await?;
            let own = self.submit(address).await?;
            (self.plain(clients).await?, own, other)
        };
        let healthz = Requests::new([http::get("/healthz")]);
        let ceiling = Extent::Lasting(CEILING.min(self.duration));
        let ceiling = load::closed(address, &healthz, self.connections, ceiling).await?;
        Ok(Round {
            pgbench: plain.0,
            pgbench_wal_bytes_per_item: plain.1.wal_bytes_per_item,
            gatehouse_rate: own.0.rate(),
            beside_rate: other.map(|other| other.0.rate()),
            latency: own.0.latencies.percentiles(),
            cost: own.1,
            ceiling_rate: ceiling.rate(),
        })
    }

    async fn plain(&mut self, clients: u32) -> anyhow::Result<(Measured, Cost)> {
        empty_tables(&mut self.conn).await?;
        let meter = Meter::start(&mut self.conn).await?;
        let measured = self.pgbench(clients, self.duration).await?;
        let cost = meter.stop(&mut self.conn, measured.transactions).await?;
        let stored: i64 = sqlx::query_scalar("select count(*) from media")
            .fetch_one(&mut self.conn)
            .await?;
        ensure!(
            u64::try_from(stored)? == measured.transactions,
            "{} were counted, but {stored} are stored",
            measured.transactions
        );
        Ok((measured, cost))
    }

    async fn beside(&mut self) -> anyhow::Result<Option<(load::Throughput, Cost)>> {
        let Some(address) = self.other else {
            return Ok(None);
        };
        self.submit(address).await.map(Some)
    }

    async fn submit(&mut self, address: SocketAddr) -> anyhow::Result<(load::Throughput, Cost)> {
        // Every site once, so that the server knows them all.
        for extent in [
            Extent::Of(self.requests.len() as u64),
            Extent::Lasting(WARM_UP.min(self.duration)),
        ] {
            load::closed(address, &self.requests, self.connections, extent).await?;
        }
        empty_tables(&mut self.conn).await?;
        let meter = Meter::start(&mut self.conn).await?;
        let extent = Extent::Lasting(self.duration);
        let throughput = load::closed(address, &self.requests, self.connections, extent).await?;
        let cost = meter.stop(&mut self.conn, throughput.answered).await?;
        let traces = Traces {
            submissions: throughput.answered,
            named: self.named,
            short: self.short,
        };
        traces.expect(&mut self.conn).await?;
        Ok((throughput, cost))
    }
}
