//! Starts Gatehouse's processes, waits for them, kills and restarts them, and ends them when they
//! are dropped.

mod process;

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Stdio,
};

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::process::Command;

pub(crate) use self::process::Process;

/// The binary and the environment that all its processes share.
#[derive(Clone)]
pub(crate) struct Gatehouse {
    pub(crate) binary: PathBuf,
    /// Names and values. Nothing of the caller's environment is passed on.
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
    /// The API with the console. Its address is the console's
    Console,
    /// Both in one, on the measurement's Postgres.
    Up,
}

impl Gatehouse {
    /// Processes that are started from now on use this database.
    pub(crate) fn use_database(&mut self, url: String) {
        self.environment.retain(|(name, _)| *name != "DATABASE_URL");
        self.environment.push(("DATABASE_URL", url));
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// It failed. The error has its output.
    pub(crate) async fn run(&self, arguments: &[&str]) -> anyhow::Result<()> {
        self.output(arguments).await.map(drop)
    }

    /// Runs a command of `gatehouse admin` and reads the JSON that it prints.
    ///
    /// # Errors
    /// It failed. The error has its output.
    pub(crate) async fn admin(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        self.read(&[&["admin", "--json"], arguments].concat()).await
    }

    /// Runs a command and reads the JSON that it prints.
    ///
    /// # Errors
    /// It failed. The error has its output.
    pub(crate) async fn read(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let printed = self.output(arguments).await?;
        serde_json::from_slice(&printed)
            .with_context(|| format!("`gatehouse {}` printed no JSON", arguments.join(" ")))
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
            Kind::Console => format!("console-{number}"),
            Kind::Up => format!("up-{number}"),
        };
        Process::start_new(self.clone(), kind, name).await
    }

    fn command(&self) -> Command {
        self.shared(Command::new(&self.binary))
    }

    /// A command for an API or worker process, with the limit of open files.
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

/// A free address of this machine, below the range of ephemeral ports. Otherwise a connection to
/// the port of a killed process could get the same port as its source and connect to itself.
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
