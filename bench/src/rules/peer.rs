//! RE2's Set and Hyperscan, each in a process of its own that is told when to go over the texts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// An engine that Python has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(super) enum Peer {
    Re2,
    Hyperscan,
}

impl Peer {
    pub(super) const ALL: [Self; 2] = [Self::Re2, Self::Hyperscan];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Re2 => "RE2's Set",
            Self::Hyperscan => "Hyperscan",
        }
    }

    const fn argument(self) -> &'static str {
        match self {
            Self::Re2 => "re2",
            Self::Hyperscan => "hyperscan",
        }
    }
}

/// A running peer with its patterns compiled.
pub(super) struct Running {
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    compiled: Duration,
    _child: Child,
}

#[derive(Deserialize)]
struct Answer {
    nanos: u64,
    matches: usize,
}

impl Running {
    /// Starts a peer and waits until it has compiled the patterns.
    pub(super) async fn start(
        peer: Peer,
        patterns: &[String],
        rounds: &[Vec<String>],
        scratch: &Path,
    ) -> anyhow::Result<Self> {
        let job = scratch.join(format!("{}.json", peer.argument()));
        fs::write(
            &job,
            json!({"patterns": patterns, "rounds": rounds}).to_string(),
        )?;
        let mut child = Command::new(python().await?)
            .arg(directory().join("match.py"))
            .arg(peer.argument())
            .arg(&job)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let requests = child.stdin.take().context("a peer reads")?;
        let mut answers = BufReader::new(child.stdout.take().context("a peer writes")?).lines();
        let compiled = answer(&mut answers).await?;
        Ok(Self {
            requests,
            answers,
            compiled: Duration::from_nanos(compiled.nanos),
            _child: child,
        })
    }

    /// How long it took to compile the patterns.
    pub(super) const fn compiled(&self) -> Duration {
        self.compiled
    }

    /// Goes over the texts of a round once: how long it took, and what was found.
    pub(super) async fn measure(&mut self, round: usize) -> anyhow::Result<(Duration, usize)> {
        self.requests
            .write_all(format!("{round}\n").as_bytes())
            .await?;
        let answer = answer(&mut self.answers).await?;
        Ok((Duration::from_nanos(answer.nanos), answer.matches))
    }
}

async fn answer(answers: &mut Lines<BufReader<ChildStdout>>) -> anyhow::Result<Answer> {
    let line = answers
        .next_line()
        .await?
        .context("a peer ended; what it said stands above")?;
    Ok(serde_json::from_str(&line)?)
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/rules")
}

/// The Python of an environment with the peers' packages, which is made when it is not there.
async fn python() -> anyhow::Result<PathBuf> {
    let environment = directory().join(".venv");
    let python = environment.join("bin/python");
    let installed = environment.join("installed.txt");
    let requirements = directory().join("requirements.txt");
    if fs::read(&installed).ok() != Some(fs::read(&requirements)?) {
        eprintln!("installing the peers into {}", environment.display());
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment))
        .await?;
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ];
        run(Command::new(&python).args(pip).arg(&requirements)).await?;
        fs::copy(&requirements, &installed)?;
    }
    Ok(python)
}

async fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command
        .output()
        .await
        .context("the peers need Python 3 with venv: sudo apt-get install python3-venv")?;
    ensure!(
        output.status.success(),
        "installing the peers failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
