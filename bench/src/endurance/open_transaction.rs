//! A forgotten transaction.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;
use sqlx::{Connection as _, PgConnection};

use crate::cluster::Cluster;

/// What it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hold {
    /// A snapshot that has read other tables only
    Snapshot,
    /// A transaction number, because it has written; no snapshot
    Xid,
    /// A snapshot that has read the queue, and so a lock on its table
    Table,
}

impl Hold {
    const fn statements(self) -> [&'static str; 2] {
        match self {
            Self::Snapshot => [
                "begin isolation level repeatable read",
                "select count(*) from effects where n < 0",
            ],
            Self::Xid => ["begin", "insert into bystander values (1)"],
            Self::Table => [
                "begin isolation level repeatable read",
                "select count(*) from queue.jobs",
            ],
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Snapshot => "snapshot",
            Self::Xid => "transaction number",
            Self::Table => "lock on the table",
        })
    }
}

/// An open transaction.
pub(super) struct Held(PgConnection);

impl Held {
    pub(super) async fn take(cluster: &Cluster, hold: Hold) -> anyhow::Result<Self> {
        let mut conn = cluster.connect().await?;
        sqlx::query("create table if not exists bystander (n bigint)")
            .execute(&mut conn)
            .await?;
        for statement in hold.statements() {
            sqlx::query(statement).execute(&mut conn).await?;
        }
        Ok(Self(conn))
    }

    pub(super) async fn release(mut self) -> anyhow::Result<()> {
        sqlx::query("commit").execute(&mut self.0).await?;
        Ok(self.0.close().await?)
    }
}
