//! A driver from the benchmark's side: a process that gets one request per line and is killed when
//! dropped.

use std::{
    env,
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, bail, ensure};
use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::protocol::{About, Answer, Request};

/// A running driver.
pub(crate) struct DriverClient {
    name: String,
    log: PathBuf,
    about: About,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    child: Child,
}

impl DriverClient {
    /// Our own driver, for the queue or for the loop that is written by hand.
    pub(crate) async fn ours(mode: &str, url: &str, logs: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["driver", mode, url]);
        Self::start(command, mode, logs).await
    }

    /// The driver of a peer, run by Node.
    pub(crate) async fn peer(script: &Path, url: &str, logs: &Path) -> anyhow::Result<Self> {
        let name = script.file_stem().unwrap_or_default().to_string_lossy();
        let mut command = Command::new("node");
        command.arg(script).arg(url);
        Self::start(command, &name, logs).await
    }

    async fn start(mut command: Command, name: &str, logs: &Path) -> anyhow::Result<Self> {
        let log = logs.join(format!("{name}.log"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(&log)?)
            // Ctrl-C is for the benchmark alone, which then ends its processes itself.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start the driver {name}"))?;
        let requests = child.stdin.take().context("a driver reads")?;
        let answers = BufReader::new(child.stdout.take().context("a driver writes")?).lines();
        let mut driver = Self {
            name: name.to_owned(),
            log,
            about: About {
                version: String::new(),
                settings: String::new(),
            },
            requests,
            answers,
            child,
        };
        driver.about = driver.answer().await?;
        Ok(driver)
    }

    /// What runs in it.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// The driver failed, or is gone.
    pub(crate) async fn ask<T: DeserializeOwned>(&mut self, request: Request) -> anyhow::Result<T> {
        self.tell(request).await?;
        let answer = self.answer().await;
        answer.with_context(|| format!("{}: {request:?}", self.name))
    }

    /// Sends a request and ignores the content of its answer.
    pub(crate) async fn order(&mut self, request: Request) -> anyhow::Result<()> {
        self.ask::<serde_json::Value>(request).await.map(drop)
    }

    /// Sends a request that has no answer.
    pub(crate) async fn tell(&mut self, request: Request) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        let written = self.requests.write_all(&line).await;
        written.with_context(|| format!("{} is gone; its log is {}", self.name, self.log.display()))
    }

    /// Ends the process by closing its input.
    pub(crate) async fn end(self) -> anyhow::Result<()> {
        let Self {
            name,
            requests,
            mut child,
            ..
        } = self;
        drop(requests);
        let status = child.wait().await?;
        ensure!(status.success(), "{name} ended with {status}");
        Ok(())
    }

    async fn answer<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let Some(line) = self.answers.next_line().await? else {
            bail!("{} ended; its log is {}", self.name, self.log.display());
        };
        match serde_json::from_str(&line).with_context(|| format!("{} said {line}", self.name))? {
            Answer::Ok(value) => Ok(serde_json::from_value(value)?),
            Answer::Error(error) => bail!("{error}"),
        }
    }
}
