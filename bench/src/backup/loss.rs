//! A backup that is made under load, and the database that is restored from it.

use std::{
    cell::Cell,
    path::PathBuf,
    time::{Duration, Instant},
};

use super::Kept;
use crate::{cluster::Cluster, environment::Environment};

/// What is left when the server is lost.
pub(super) enum Loss {
    /// A dump, and where a server is made for it.
    Dump { file: PathBuf, restored: PathBuf },
    /// The files of the server, and the time to restore. Without a time, everything that is in the
    /// archive is restored.
    Files {
        copy: Box<Cluster>,
        time: Option<String>,
    },
}

/// The archive of all servers that are restored one after the other.
pub(super) fn archive(environment: &Environment) -> PathBuf {
    environment.directory().join("archive")
}

impl Loss {
    /// Makes a backup. `note` is called at the last moment whose items must be in it. The load
    /// continues for a while afterwards. `number` is which loss of this service.
    pub(super) async fn prepare<T>(
        environment: &Environment,
        kept: Kept,
        number: usize,
        note: impl FnOnce() -> T,
        took: &Cell<f64>,
        pause: Duration,
    ) -> anyhow::Result<Self> {
        let cluster = &environment.cluster;
        let restored = environment.directory().join(format!("restored-{number}"));
        let began = Instant::now();
        if kept == Kept::Dump {
            let file = environment.directory().join("gatehouse.dump");
            note();
            cluster.dump(&file).await?;
            took.set(began.elapsed().as_secs_f64());
            tokio::time::sleep(pause).await;
            return Ok(Self::Dump { file, restored });
        }
        let copy = Box::new(cluster.base_backup(restored).await?);
        took.set(began.elapsed().as_secs_f64());
        tokio::time::sleep(pause / 2).await;
        note();
        let time = if kept == Kept::Time {
            let mut conn = cluster.connect().await?;
            let time = sqlx::query_scalar("select clock_timestamp()::text")
                .fetch_one(&mut conn)
                .await?;
            tokio::time::sleep(pause / 2).await;
            cluster.flush_archive(&archive(environment)).await?;
            Some(time)
        } else {
            cluster.flush_archive(&archive(environment)).await?;
            // What is written now is lost, unless it fills another file.
            tokio::time::sleep(pause / 2).await;
            None
        };
        Ok(Self::Files { copy, time })
    }

    /// A server with what was kept.
    pub(super) async fn restore(self, environment: &Environment) -> anyhow::Result<Cluster> {
        match self {
            Self::Dump { file, restored } => environment.cluster.restore(restored, &file).await,
            Self::Files { mut copy, time } => {
                copy.recover(&archive(environment), time.as_deref()).await?;
                Ok(*copy)
            }
        }
    }
}
