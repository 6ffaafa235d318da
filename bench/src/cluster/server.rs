//! The server of a cluster: how it is started, stopped and killed.

use std::{
    fs::File,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, PgConnection};

use super::{Cluster, Role};
use crate::procfs;

const START: Duration = Duration::from_mins(1);
const STOP: Duration = Duration::from_secs(30);

/// How Postgres is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Sessions are ended, transactions rolled back, everything written.
    Fast,
    /// As in a crash: recovery at the next start.
    Immediate,
}

impl Stop {
    const fn signal(self) -> Signal {
        match self {
            Self::Fast => Signal::INT,
            Self::Immediate => Signal::QUIT,
        }
    }
}

impl Cluster {
    /// Stops the server and starts it again.
    pub(crate) async fn restart(&mut self, stop: Stop) -> anyhow::Result<()> {
        if let Some(server) = self.signal(stop)? {
            let asked = Instant::now();
            while server.try_wait()?.is_none() {
                ensure!(asked.elapsed() < STOP, "Postgres does not stop");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        self.serve().await
    }

    /// Kills all processes of the server with SIGKILL, as when its machine loses power. It is not started again.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        let Some(mut server) = self.server.take() else {
            return Ok(());
        };
        let children = procfs::children(server.id())?;
        server.kill()?;
        for child in children.into_iter().filter_map(Pid::from_raw) {
            // It may have seen its parent die.
            let _ = kill_process(child, Signal::KILL);
        }
        server.wait()?;
        Ok(())
    }

    /// Whether the server ended by itself.
    pub(crate) fn has_died(&mut self) -> bool {
        self.server
            .as_mut()
            .is_some_and(|server| !matches!(server.try_wait(), Ok(None)))
    }

    /// Leaves its files where they are, also those on a filesystem of their own.
    pub(crate) fn keep(&mut self) {
        if let Some(disk) = &mut self.disk {
            disk.keep();
        }
    }

    /// The number of the server's first process, whose children are all others; none while it does not run.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    /// Starts the server unless it runs, and waits until it lets somebody in.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) async fn serve(&mut self) -> anyhow::Result<()> {
        let started = Instant::now();
        let url = self.url_of(Role::Postgres, "postgres");
        loop {
            // After a crash, the old shared memory may be in use for another moment. Then starting
            // is tried again.
            if self.server.is_none() || self.has_died() {
                self.server = Some(self.spawn()?);
            }
            match PgConnection::connect(&url).await {
                Ok(connection) => return Ok(connection.close().await?),
                Err(error) if started.elapsed() > START => bail!(
                    "Postgres does not start: {error}; its log is {}",
                    self.directory.join("postgres.log").display()
                ),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.directory.join("postgres.log"))?;
        self.command("postgres")
            .arg("-D")
            .arg(&self.data)
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("cannot run postgres")
    }

    /// Asks the server to stop, if there is one.
    fn signal(&mut self, stop: Stop) -> anyhow::Result<Option<&mut Child>> {
        if let Some(server) = &mut self.server
            && server.try_wait()?.is_none()
        {
            kill_process(Pid::from_child(server), stop.signal())?;
        }
        Ok(self.server.as_mut())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let Ok(Some(server)) = self.signal(Stop::Immediate) else {
            return;
        };
        let asked = Instant::now();
        while matches!(server.try_wait(), Ok(None)) {
            if asked.elapsed() > STOP {
                eprintln!("Postgres did not stop and is killed");
                let _ = server.kill();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}
