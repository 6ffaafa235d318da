//! The incidents. Each breaks something for a while, and does only what an operator would do.

use std::{
    convert::Infallible,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use futures::future::try_join_all;
use serde::Serialize;
use sqlx::PgConnection;
use tokio::time::{sleep, timeout};

use super::primary_and_standby::PrimaryAndStandby;
use crate::{cluster::Cluster, stack::Stack};

/// The length of an outage that the operator ends.
const OUTAGE: Duration = Duration::from_secs(10);
/// How long a name leads to the wrong server.
const MISLED: Duration = Duration::from_secs(5);
/// How long an operator takes to promote a standby.
const NOTICE: Duration = Duration::from_secs(4);
const POLL: Duration = Duration::from_millis(100);
/// How long it may take until the failure has begun.
const BEGINS: Duration = Duration::from_mins(1);
/// Between two attempts to connect.
const MOMENT: Duration = Duration::from_millis(10);

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A name leads to the standby for a while, and sessions are opened there.
    WrongServer,
    /// The primary is killed, and the standby promoted.
    Failover,
    /// All processes of the service are restarted, one after the other.
    RollingRestart,
    /// The disk of the database is full for a while.
    FullDisk,
    /// Others take all connections for a while.
    NoConnections,
}

impl Kind {
    /// In this order: a standby can be the wrong server only before it is promoted.
    pub(super) const ALL: [Self; 5] = [
        Self::WrongServer,
        Self::Failover,
        Self::RollingRestart,
        Self::FullDisk,
        Self::NoConnections,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::WrongServer => "sessions on a read-only server",
            Self::Failover => "the primary killed, the standby promoted",
            Self::RollingRestart => "a rolling restart of all processes",
            Self::FullDisk => "a full disk",
            Self::NoConnections => "all connections taken",
        }
    }

    /// Whether the database can be written to all the time.
    pub(super) const fn is_harmless(self) -> bool {
        match self {
            Self::RollingRestart => true,
            Self::WrongServer | Self::Failover | Self::FullDisk | Self::NoConnections => false,
        }
    }
}

/// What an incident needs.
pub(super) struct Scene<'a> {
    pub(super) stack: &'a mut Stack,
    pub(super) databases: &'a mut PrimaryAndStandby,
}

/// A past incident, and what was observed.
pub(super) struct Past {
    /// When the database could be written to again.
    pub(super) writable: Instant,
    pub(super) told: String,
}

impl Scene<'_> {
    /// Lets an incident happen, and repairs it.
    pub(super) async fn play(&mut self, kind: Kind) -> anyhow::Result<Past> {
        match kind {
            Kind::WrongServer => self.wrong_server().await,
            Kind::Failover => self.failover().await,
            Kind::RollingRestart => self.rolling_restart().await,
            Kind::FullDisk => self.full_disk().await,
            Kind::NoConnections => self.no_connections().await,
        }
    }

    async fn wrong_server(&mut self) -> anyhow::Result<Past> {
        let PrimaryAndStandby { name, probe, .. } = &*self.databases;
        let standby = self.databases.standby()?;
        name.lead_to(self.databases.standby_address);
        Cluster::end_sessions(&mut self.stack.environment.cluster.connect().await?).await?;
        probe.until_down().await?;
        sleep(MISLED).await;
        let during = standby.sessions().await?;
        // The sessions on the standby stay open, as long as the service keeps them.
        name.lead_to(self.databases.primary);
        Ok(Past {
            writable: probe.until_writable().await,
            told: format!("the service had {during} sessions there at the end"),
        })
    }

    async fn failover(&mut self) -> anyhow::Result<Past> {
        let standby = self.databases.standby.take();
        let standby = standby.context("there is no standby any more")?;
        self.stack.environment.cluster.kill()?;
        self.databases.probe.until_down().await?;
        sleep(NOTICE).await;
        let (promoted, writable) =
            tokio::join!(standby.promote(), self.databases.probe.until_writable());
        promoted?;
        self.stack.environment.cluster = standby;
        Ok(Past {
            writable,
            told: format!(
                "SIGKILL of all processes, promotion {} s later",
                NOTICE.as_secs()
            ),
        })
    }

    async fn rolling_restart(&mut self) -> anyhow::Result<Past> {
        let mut count = 0;
        for process in self.stack.processes() {
            eprintln!("restarting {}", process.name());
            process.stop().await?;
            process.start().await?;
            count += 1;
        }
        Ok(Past {
            writable: self.databases.probe.until_writable().await,
            told: format!("SIGTERM to {count} processes"),
        })
    }

    async fn full_disk(&mut self) -> anyhow::Result<Past> {
        let cluster = &mut self.stack.environment.cluster;
        let begun = Instant::now();
        let mut full_since = None;
        while full_since.is_none_or(|since: Instant| since.elapsed() < OUTAGE) {
            let disk = cluster.disk().context("the data has no disk of its own")?;
            disk.fill()?;
            // Postgres keeps some files of its log in reserve. They are used up first.
            if let Ok(mut conn) = cluster.connect().await {
                let _ = sqlx::query("select pg_switch_wal()")
                    .execute(&mut conn)
                    .await;
            }
            if full_since.is_none() && !self.databases.probe.writes().await {
                full_since = Some(Instant::now());
            }
            ensure!(
                full_since.is_some() || begun.elapsed() < BEGINS,
                "the disk is full, and the database can still be written to"
            );
            sleep(POLL).await;
        }
        let has_died = cluster.has_died();
        if let Some(disk) = cluster.disk() {
            disk.free()?;
        }
        let (served, writable) =
            tokio::join!(cluster.serve(), self.databases.probe.until_writable());
        served?;
        let told = if has_died {
            "Postgres ended and was started again"
        } else {
            "Postgres recovered by itself"
        };
        Ok(Past {
            writable,
            told: told.to_owned(),
        })
    }

    async fn no_connections(&mut self) -> anyhow::Result<Past> {
        let cluster = &self.stack.environment.cluster;
        let mut first = cluster.connect().await?;
        let most: String = sqlx::query_scalar("show max_connections")
            .fetch_one(&mut first)
            .await?;
        let most: usize = most.parse()?;
        // Many try at once. Otherwise the service would be faster to replace its own.
        let taking = try_join_all((1..most).map(|_| take(cluster)));
        let others = tokio::select! {
            others = timeout(BEGINS, taking) => others.context("the service still has connections")??,
            failed = end_sessions(&mut first) => match failed? {},
        };
        self.databases.probe.until_down().await?;
        sleep(OUTAGE).await;
        drop((others, first));
        Ok(Past {
            writable: self.databases.probe.until_writable().await,
            told: format!("{most} of {most}, those of the service, too"),
        })
    }
}

/// Ends the service's sessions again and again.
async fn end_sessions(conn: &mut PgConnection) -> anyhow::Result<Infallible> {
    loop {
        Cluster::end_sessions(conn).await?;
        sleep(POLL).await;
    }
}

/// Tries until it has a connection.
async fn take(cluster: &Cluster) -> anyhow::Result<PgConnection> {
    loop {
        match cluster.connect().await {
            Ok(conn) => return Ok(conn),
            Err(_) => sleep(MOMENT).await,
        }
    }
}
