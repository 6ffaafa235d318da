//! Peers in Python: a process in an environment with their packages, which answers each line with a
//! line of JSON.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// A running peer.
pub(crate) struct Process {
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Process {
    /// Starts `match.py` in a directory under `bench/peers`, which has a `requirements.txt`, too.
    pub(crate) async fn start<A: AsRef<OsStr>>(
        peers: &str,
        arguments: &[A],
    ) -> anyhow::Result<Self> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("peers")
            .join(peers);
        let mut child = Command::new(interpreter(&directory).await?)
            .arg(directory.join("match.py"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self {
            requests: child.stdin.take().context("a peer reads")?,
            answers: BufReader::new(child.stdout.take().context("a peer writes")?).lines(),
            _child: child,
        })
    }

    /// What it says next.
    pub(crate) async fn answer<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let line = self.answers.next_line().await?;
        let line = line.context("a peer ended; what it said stands above")?;
        Ok(serde_json::from_str(&line)?)
    }

    /// What it says to a line.
    pub(crate) async fn ask<T: DeserializeOwned>(&mut self, line: &str) -> anyhow::Result<T> {
        self.requests
            .write_all(format!("{line}\n").as_bytes())
            .await?;
        self.answer().await
    }
}

/// The Python of an environment with the directory's packages, which is made when it is not there.
async fn interpreter(directory: &Path) -> anyhow::Result<PathBuf> {
    let environment = directory.join(".venv");
    let python = environment.join("bin/python");
    let installed = environment.join("installed.txt");
    let requirements = directory.join("requirements.txt");
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
