//! The surroundings of the two teams: the processes, the well-behaved team, and the minutes, which
//! begin with everything fresh.

use std::{
    cell::RefCell,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use anyhow::Context as _;
use serde::Serialize;
use serde_json::Value;
use sqlx::PgConnection;

use super::{
    Options,
    attack::Attack,
    cpu_usage::{Clock, CpuUsage},
    hostile::{Brief, Hostile, Tally},
    victim::{Felt, Victim},
    watch::{Peak, watch},
};
use crate::{
    postgres_cost::empty_tables,
    processes::{Gatehouse, Process, free_address},
    receiver::{Manners, Receiver},
    sites::{Site, Tenants},
    stack::{Shape, Stack, Surroundings},
    texts::Texts,
};

/// Sites of the well-behaved team.
const SITES: usize = 4;
const WARM_UP_SECONDS: u64 = 3;
/// Half of Postgres's default. Deeply nested JSON needs stack, and an operator may have less of it than the default.
const STACK: &str = "alter database gatehouse set max_stack_depth = '1MB'";

/// One minute, however many seconds it has.
#[derive(Debug, Serialize)]
pub(super) struct Minute {
    pub(super) felt: Felt,
    pub(super) api: Peak,
    pub(super) worker: Peak,
    pub(super) busy: CpuUsage,
    /// How much the database grew.
    pub(super) grown_bytes: i64,
    /// What the hostile team did; `None` of an idle minute.
    pub(super) hostile: Option<Tally>,
}

impl fmt::Display for Minute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "submit p99 {:.1} ms, verdict p99 {:.1} ms, API {:.0} MiB, worker {:.0} MiB; busy: {}",
            self.felt.submit.p99_ms,
            self.felt.verdict.p99_ms,
            self.api.resident_mib,
            self.worker.resident_mib,
            self.busy
        )
    }
}

pub(super) struct Testbed {
    stack: Stack,
    conn: PgConnection,
    victim: Victim,
    /// Where the hostile team's servers listen, on every address of 127.0.0.0/8.
    hosts: u16,
    seconds: u64,
    stop_at_mib: u32,
    seed: u64,
    nice: i32,
    /// How many hostile teams there have been.
    teams: u64,
}

impl Testbed {
    /// Starts the processes and makes the well-behaved team.
    pub(super) async fn build(options: &Options, seed: u64) -> anyhow::Result<Self> {
        let hosts = free_address()?.port();
        let surroundings = Surroundings {
            egress_allow: vec![format!("127.0.0.0/8:{hosts}")],
            descriptors: Some(options.descriptors),
            ..Surroundings::default()
        };
        let shape = Shape {
            apis: 1,
            workers: 1,
            // Both teams are made with the measured binary's own commands, whichever version it is.
            tenants: Tenants {
                sites: 0,
                sites_per_team: 1,
            },
            lease_seconds: 30,
            manners: Manners::default(),
        };
        let stack = Stack::start_in(surroundings, &options.common, shape, seed).await?;
        let mut conn = stack.environment.cluster.connect().await?;
        sqlx::query(STACK).execute(&mut conn).await?;
        let (token, sites) = well_behaved(&stack.gatehouse, &stack.receiver).await?;
        let victim = Victim {
            api: stack.apis[0].address,
            token,
            sites,
            texts: Texts::new(seed),
            rate: options.rate,
            connections: options.connections,
        };
        Ok(Self {
            stack,
            conn,
            victim,
            hosts,
            seconds: options.seconds,
            stop_at_mib: options.stop_at_mib,
            seed,
            nice: options.nice,
            teams: 0,
        })
    }

    /// A connection of the benchmark's own.
    pub(super) const fn connection(&mut self) -> &mut PgConnection {
        &mut self.conn
    }

    /// The well-behaved team's minute, alone or beside a hostile team.
    pub(super) async fn minute(&mut self, attack: Option<Attack>) -> anyhow::Result<Minute> {
        self.refresh().await?;
        let brief = match attack {
            Some(attack) => Some(self.brief(attack).await?),
            None => None,
        };
        self.victim
            .live(&self.stack.receiver, WARM_UP_SECONDS)
            .await
            .context("the warm-up")?;
        let before = size(&mut self.conn).await?;
        let hostile = match &brief {
            Some(brief) => Some(Hostile::start(brief).await?),
            None => None,
        };
        let (api_peak, worker_peak) = (RefCell::default(), RefCell::default());
        let clock = Clock::start(&self.stack, hostile.as_ref());
        let Stack {
            apis,
            workers,
            receiver,
            ..
        } = &mut self.stack;
        let felt = tokio::select! {
            felt = self.victim.live(receiver, self.seconds) => felt?,
            never = watch(&mut apis[0], self.stop_at_mib, &api_peak) => never?,
            never = watch(&mut workers[0], self.stop_at_mib, &worker_peak) => never?,
        };
        let busy = clock.read();
        let hostile = match hostile {
            Some(hostile) => Some(hostile.finish().await?),
            None => None,
        };
        Ok(Minute {
            felt,
            api: api_peak.into_inner(),
            worker: worker_peak.into_inner(),
            busy,
            grown_bytes: size(&mut self.conn).await? - before,
            hostile,
        })
    }

    /// Fresh processes and empty tables, so that no attack meets what another left behind.
    async fn refresh(&mut self) -> anyhow::Result<()> {
        for process in self.stack.processes() {
            stop(process).await;
        }
        empty_tables(&mut self.conn).await?;
        sqlx::query("truncate webhook_endpoint_states, queue.lanes")
            .execute(&mut self.conn)
            .await?;
        for process in self.stack.processes() {
            process.start().await?;
        }
        Ok(())
    }

    /// A new hostile team. It is on the plan that the database came with, as any customer is.
    async fn brief(&mut self, attack: Attack) -> anyhow::Result<Brief> {
        self.teams += 1;
        let name = format!("Hostile {}", self.teams);
        let gatehouse = &self.stack.gatehouse;
        let team = gatehouse.admin(&["create-team", "--name", &name]).await?;
        let team = text(&team, "team_id")?;
        Ok(Brief {
            attack,
            api: self.victim.api,
            token: token(gatehouse, team).await?,
            hosts: SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), self.hosts),
            seconds: self.seconds,
            seed: self.seed + self.teams,
            nice: self.nice,
        })
    }
}

/// Kills a process unless it has ended by itself.
async fn stop(process: &mut Process) {
    let _ = process.kill().await;
}

async fn well_behaved(
    gatehouse: &Gatehouse,
    receiver: &Receiver,
) -> anyhow::Result<(String, Vec<Site>)> {
    let plan = gatehouse
        .admin(&[
            "create-plan",
            "--name",
            "Well-behaved",
            "--submissions-per-minute",
            "1000000",
        ])
        .await?;
    let plan = text(&plan, "plan_id")?;
    let team = gatehouse
        .admin(&["create-team", "--name", "Well-behaved", "--plan", plan])
        .await?;
    let team = text(&team, "team_id")?;
    let mut sites = Vec::new();
    for number in 0..SITES {
        let name = format!("Site {number}");
        let made = gatehouse
            .admin(&["create-site", "--team", team, "--name", &name])
            .await?;
        let site = text(&made, "site_id")?;
        let url = receiver.url_for(text(&made, "webhook_secret")?.parse()?);
        gatehouse
            .admin(&["create-endpoint", "--site", site, "--url", &url])
            .await?;
        let key = gatehouse.admin(&["create-key", "--site", site]).await?;
        sites.push(Site {
            id: site.parse()?,
            key: text(&key, "site_key")?.to_owned(),
        });
    }
    Ok((token(gatehouse, team).await?, sites))
}

async fn token(gatehouse: &Gatehouse, team: &str) -> anyhow::Result<String> {
    let arguments = [
        "create-token",
        "--name",
        "All",
        "--scopes",
        "all",
        "--team",
        team,
    ];
    let made = gatehouse.admin(&arguments).await?;
    Ok(text(&made, "management_token")?.to_owned())
}

fn text<'a>(made: &'a Value, name: &str) -> anyhow::Result<&'a str> {
    made[name]
        .as_str()
        .with_context(|| format!("`gatehouse admin` printed no {name}"))
}

async fn size(conn: &mut PgConnection) -> anyhow::Result<i64> {
    let size = sqlx::query_scalar("select pg_database_size(current_database())");
    Ok(size.fetch_one(conn).await?)
}
