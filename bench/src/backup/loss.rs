//! A backup that is made under load, and the database that is restored from it.

use std::{
    cell::Cell,
    path::PathBuf,
    time::{Duration, Instant},
};

use super::Kept;
use crate::{cluster::Cluster, ground::Ground};

/// What is left when the server is lost.
pub(super) enum Loss {
    /// A dump.
    Dump(PathBuf),
    /// The files of the server, the archive, and the time to restore.
    Files {
        copy: Box<Cluster>,
        archive: PathBuf,
        time: String,
    },
}

impl Loss {
    /// Makes a backup. `note` is called at the last moment whose items must be in it. The load
    /// continues for a while afterwards.
    pub(super) async fn prepare<T>(
        ground: &Ground,
        kept: Kept,
        note: impl FnOnce() -> T,
        took: &Cell<f64>,
        pause: Duration,
    ) -> anyhow::Result<Self> {
        let cluster = &ground.cluster;
        let directory = ground.directory();
        let began = Instant::now();
        match kept {
            Kept::Dump => {
                let file = directory.join("gatehouse.dump");
                note();
                cluster.dump(&file).await?;
                took.set(began.elapsed().as_secs_f64());
                tokio::time::sleep(pause).await;
                Ok(Self::Dump(file))
            }
            Kept::PointInTime => {
                let archive = cluster.archive().await?;
                let copy = cluster.base_backup(directory.join("restored")).await?;
                took.set(began.elapsed().as_secs_f64());
                tokio::time::sleep(pause / 2).await;
                note();
                let mut conn = cluster.connect().await?;
                let time = sqlx::query_scalar("select clock_timestamp()::text")
                    .fetch_one(&mut conn)
                    .await?;
                tokio::time::sleep(pause / 2).await;
                cluster.flush_archive(&mut conn).await?;
                Ok(Self::Files {
                    copy: Box::new(copy),
                    archive,
                    time,
                })
            }
        }
    }

    /// A server with what was kept.
    pub(super) async fn restore(self, ground: &Ground) -> anyhow::Result<Cluster> {
        match self {
            Self::Dump(file) => {
                let directory = ground.directory().join("restored");
                ground.cluster.restore(directory, &file).await
            }
            Self::Files {
                mut copy,
                archive,
                time,
            } => {
                copy.recover(&archive, &time).await?;
                Ok(*copy)
            }
        }
    }
}
