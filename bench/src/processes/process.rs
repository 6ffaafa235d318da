//! A process of Gatehouse that runs until it is killed.

use std::{
    fs::File,
    io,
    net::SocketAddr,
    os::unix::process::ExitStatusExt as _,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{process::Child, time::timeout};

use super::{Gatehouse, Kind, free_address};
use crate::{
    cluster::account_name,
    http::{Client, get},
};

const READY: Duration = Duration::from_mins(1);
/// An API process drains for 5 s and gives running requests 10, a worker gives running jobs 20.
const STOP: Duration = Duration::from_mins(1);

/// A process of Gatehouse that runs until it is killed.
pub(crate) struct Process {
    gatehouse: Gatehouse,
    kind: Kind,
    name: String,
    /// The address for submissions. A worker takes none.
    pub(crate) address: SocketAddr,
    metrics: SocketAddr,
    child: Option<Child>,
}

impl Process {
    pub(super) async fn start_new(
        gatehouse: Gatehouse,
        kind: Kind,
        name: String,
    ) -> anyhow::Result<Self> {
        let mut process = Self {
            gatehouse,
            kind,
            name,
            address: free_address()?,
            metrics: free_address()?,
            child: None,
        };
        process.start().await?;
        Ok(process)
    }

    /// Its kind and number.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Starts it, again on the same addresses, and waits until it is ready.
    ///
    /// # Errors
    /// It ended, or is not ready within a minute.
    pub(crate) async fn start(&mut self) -> anyhow::Result<()> {
        let path = self.gatehouse.logs.join(format!("{}.log", self.name));
        let log = File::options().create(true).append(true).open(&path)?;
        let mut command = self.gatehouse.limited();
        match self.kind {
            Kind::Api => command.args(["api", "--listen", &self.address.to_string()]),
            Kind::Worker => command.arg("worker"),
            Kind::Console => command
                .args(["api", "--listen", &free_address()?.to_string()])
                .args(["--console-listen", &self.address.to_string()]),
            Kind::Up => command
                .args(["up", "--listen", &self.address.to_string(), "--data-dir"])
                .arg(self.gatehouse.logs.join(&self.name))
                // The account that may use the socket.
                .args(account_name()?.map(|name| format!("--user={name}"))),
        };
        command.args(["--metrics-listen", &self.metrics.to_string()]);
        if self.kind != Kind::Console {
            // A variable, because an older binary beside this one does not know the option.
            command.env("GATEHOUSE_NO_CONSOLE", "true");
        }
        self.child = Some(command.stdout(log.try_clone()?).stderr(log).spawn()?);
        let started = Instant::now();
        let mut health = Client::new(self.metrics);
        while !matches!(health.send(&get("/readyz")).await, Ok(answer) if answer.status == 200) {
            if let Some(death) = self.death() {
                bail!("{death}");
            }
            if started.elapsed() > READY {
                bail!(
                    "{} is not ready after a minute; its log is {}",
                    self.name,
                    path.display()
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// The next start runs this version.
    pub(crate) fn become_version(&mut self, gatehouse: Gatehouse) {
        self.gatehouse = gatehouse;
    }

    /// Its process id. None while it does not run.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// Kills it with SIGKILL, unless it has ended by itself, and waits until it is gone.
    ///
    /// # Errors
    /// It had ended by itself.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(death) = self.death() {
            bail!("{death}");
        }
        if let Some(mut child) = self.child.take() {
            child.kill().await?;
        }
        Ok(())
    }

    /// Asks it to stop with SIGTERM, and waits until it has ended well.
    ///
    /// # Errors
    /// It had ended by itself, does not end, or ends with an error.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<()> {
        if let Some(death) = self.death() {
            bail!("{death}");
        }
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        kill_process(pid.context("it has no number")?, Signal::TERM)?;
        let ended = timeout(STOP, child.wait()).await;
        let status = ended.with_context(|| format!("{} does not stop", self.name))??;
        ensure!(status.success(), "{} stopped with {status}", self.name);
        Ok(())
    }

    /// Everything that it tells on `/metrics`.
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) async fn metrics(&self) -> anyhow::Result<String> {
        let mut client = Client::new(self.metrics);
        let answer = client
            .send(&get("/metrics"))
            .await
            .map_err(io::Error::from)?;
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    /// The sum of a metric over those of its labels that contain this.
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) async fn metric(&self, name: &str, label: &str) -> anyhow::Result<f64> {
        let text = self.metrics().await?;
        let values = text
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.rsplit_once(' '))
            .filter(|(labels, _)| labels.starts_with('{') && labels.contains(label))
            .map(|(_, value)| value.parse::<f64>());
        Ok(values.sum::<Result<_, _>>()?)
    }

    /// How it ended, if it did so without being killed.
    pub(crate) fn death(&mut self) -> Option<String> {
        let status = self.child.as_mut()?.try_wait().ok().flatten()?;
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "no code".to_owned(),
        };
        let log = self.gatehouse.logs.join(format!("{}.log", self.name));
        Some(format!(
            "{} ended by itself with {how}; its log is {}",
            self.name,
            log.display()
        ))
    }
}
