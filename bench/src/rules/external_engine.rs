//! RE2's Set and Hyperscan, each in its own process, which searches the texts on request.

use std::{fs, path::Path, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::python::Process;

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
    process: Process,
    compiled: Duration,
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
        let arguments = [peer.argument().as_ref(), job.as_os_str()];
        let mut process = Process::start("rules", &arguments).await?;
        let compiled: Answer = process.answer().await?;
        Ok(Self {
            process,
            compiled: Duration::from_nanos(compiled.nanos),
        })
    }

    /// How long it took to compile the patterns.
    pub(super) const fn compiled(&self) -> Duration {
        self.compiled
    }

    /// Searches the texts of a round once. Returns how long it took, and how many matches there
    /// were.
    pub(super) async fn measure(&mut self, round: usize) -> anyhow::Result<(Duration, usize)> {
        let answer: Answer = self.process.ask(&round.to_string()).await?;
        Ok((Duration::from_nanos(answer.nanos), answer.matches))
    }
}
