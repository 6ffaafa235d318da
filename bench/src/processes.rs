//! Gatehouse's processes: started, awaited, killed, started again, watched, and ended when dropped.

use std::{
    fs::File,
    io,
    net::{SocketAddr, TcpListener},
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::{
    cluster::account_name,
    http::{Client, get},
};

const READY: Duration = Duration::from_mins(1);
/// An API process lingers for 5 s and drains for 10, a worker drains for 20.
const STOP: Duration = Duration::from_mins(1);

/// The binary and the environment that all its processes share.
#[derive(Clone)]
pub(crate) struct Gatehouse {
    pub(crate) binary: PathBuf,
    /// Name and value; nothing else of the caller's environment is passed on.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Where the logs go, one file a process.
    pub(crate) logs: PathBuf,
    /// How many files its API and worker processes may have open; `None` leaves what the system allows.
    pub(crate) descriptors: Option<u64>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Api,
    Worker,
    /// Both in one, on the measurement's Postgres.
    Up,
}

/// A process of Gatehouse that runs until it is killed.
pub(crate) struct Process {
    gatehouse: Gatehouse,
    kind: Kind,
    name: String,
    /// Where submissions go; a worker takes none.
    pub(crate) address: SocketAddr,
    metrics: SocketAddr,
    child: Option<Child>,
}

impl Gatehouse {
    /// Runs a command to its end.
    ///
    /// # Errors
    /// It failed, with what it said.
    pub(crate) async fn run(&self, arguments: &[&str]) -> anyhow::Result<()> {
        self.output(arguments).await.map(drop)
    }

    /// Runs a command of `gatehouse admin` and reads the JSON that it prints.
    ///
    /// # Errors
    /// It failed, with what it said.
    pub(crate) async fn admin(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let arguments = [&["admin", "--json"], arguments].concat();
        let printed = self.output(&arguments).await?;
        serde_json::from_slice(&printed).context("`gatehouse admin --json` printed no JSON")
    }

    async fn output(&self, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let ran = self.command().args(arguments).output().await;
        let ran = ran.with_context(|| format!("cannot run {}", self.binary.display()))?;
        if !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            bail!(
                "`gatehouse {}` failed: {}",
                arguments.join(" "),
                said.trim()
            );
        }
        Ok(ran.stdout)
    }

    /// Starts a process and waits until it is ready.
    pub(crate) async fn start(&self, kind: Kind, number: usize) -> anyhow::Result<Process> {
        let name = match kind {
            Kind::Api => format!("api-{number}"),
            Kind::Worker => format!("worker-{number}"),
            Kind::Up => format!("up-{number}"),
        };
        let mut process = Process {
            gatehouse: self.clone(),
            kind,
            name,
            address: free_address()?,
            metrics: free_address()?,
            child: None,
        };
        process.start().await?;
        Ok(process)
    }

    fn command(&self) -> Command {
        self.shared(Command::new(&self.binary))
    }

    /// A command for an API or worker process, which has the limit of open files.
    fn limited(&self) -> Command {
        let Some(descriptors) = self.descriptors else {
            return self.command();
        };
        // The shell lowers both limits, and then becomes the program, so the process id is the program's.
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "ulimit -n \"$0\" && exec \"$@\""])
            .arg(descriptors.to_string())
            .arg(&self.binary);
        self.shared(command)
    }

    fn shared(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        // Ctrl-C is for the benchmark alone, which then ends its processes itself.
        command.process_group(0);
        command
    }
}

impl Process {
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
            Kind::Up => command
                .args(["up", "--listen", &self.address.to_string(), "--data-dir"])
                .arg(self.gatehouse.logs.join(&self.name))
                // Who may pass to the socket.
                .args(account_name()?.map(|name| format!("--user={name}"))),
        };
        command.args(["--metrics-listen", &self.metrics.to_string()]);
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

    /// Its number in the system; none while it does not run.
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

    /// The sum of a metric over those of its labels that contain this.
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) async fn metric(&self, name: &str, label: &str) -> anyhow::Result<f64> {
        let mut client = Client::new(self.metrics);
        let answer = client
            .send(&get("/metrics"))
            .await
            .map_err(io::Error::from)?;
        let text = String::from_utf8_lossy(&answer.body);
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

/// A free address of this machine, below the ports that connections going out get: a connection to a killed process's
/// port from that very port would otherwise meet itself.
pub(crate) fn free_address() -> anyhow::Result<SocketAddr> {
    for _ in 0..1_000 {
        let port = rand::random_range(20_000..32_000);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    bail!("no free port between 20000 and 32000")
}
