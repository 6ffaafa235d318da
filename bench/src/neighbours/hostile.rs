//! The hostile team, in a separate process with a low priority. So the service, the well-behaved
//! team and Postgres get most of the processor time when it is short. It begins with only a token
//! of its team, and makes everything else through the management interface. Refusals are counted,
//! and the attack continues with what is accepted.

mod editing;
mod flood;
mod heavy_rules;
mod hosts;
mod many_rules;
mod metadata;
mod slow_requests;
mod slow_texts;
mod sockets;
mod storage;
mod team;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    process::{Output, Stdio},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};
use serde::{Deserialize, Serialize};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
    time::timeout,
};

use self::team::Team;
use super::attack::Attack;

/// How long the process may take to end after its time is up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options of the process. It reads its task from standard input, so that its arguments contain no
/// token.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Options {}

/// The task of a hostile team.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Brief {
    pub(super) attack: Attack,
    pub(super) api: SocketAddr,
    pub(super) token: String,
    /// Where its own servers listen.
    pub(super) hosts: SocketAddr,
    pub(super) seconds: u64,
    pub(super) seed: u64,
    /// How much lower its priority is: from 0, the same, to 19.
    pub(super) nice: i32,
}

/// What a hostile team did.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Tally {
    /// Requests by what they were for, and by how they ended: a status with its problem's code, or none.
    pub(super) requests: BTreeMap<String, BTreeMap<String, u64>>,
    /// Submissions that were accepted.
    pub(super) accepted: u64,
    /// Other results, such as the size of the heaviest accepted rule group.
    pub(super) notes: Vec<String>,
    /// One answer of each kind of refusal.
    pub(super) examples: BTreeMap<String, String>,
}

/// The process, seen from the benchmark.
pub(super) struct Hostile(Child);

/// The outcome of requests without an answer at the end.
const UNANSWERED: &str = "no answer when time was up";

impl Tally {
    fn ask(&mut self, what: &str) {
        let outcomes = self.requests.entry(what.to_owned()).or_default();
        *outcomes.entry(UNANSWERED.to_owned()).or_default() += 1;
    }

    fn answer(&mut self, what: &str, outcome: String) {
        let outcomes = self.requests.entry(what.to_owned()).or_default();
        if let Some(unanswered) = outcomes.get_mut(UNANSWERED) {
            *unanswered -= 1;
        }
        *outcomes.entry(outcome).or_default() += 1;
        outcomes.retain(|_, times| *times > 0);
    }
}

impl Hostile {
    /// Starts it. Its time begins at once.
    pub(super) async fn start(brief: &Brief) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("hostile")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("the hostile team does not start")?;
        let mut input = child.stdin.take().context("a process without input")?;
        input.write_all(&serde_json::to_vec(brief)?).await?;
        input.shutdown().await?;
        Ok(Self(child))
    }

    /// Its process id, until it has ended.
    pub(super) fn pid(&self) -> Option<u32> {
        self.0.id()
    }

    /// Waits until its time is up and reads what it did.
    pub(super) async fn finish(self) -> anyhow::Result<Tally> {
        let Ok(ended) = timeout(PATIENCE, self.0.wait_with_output()).await else {
            // Dropping it kills it. It did its work.
            let note = "it got too little processor time to end, so its counts are lost";
            return Ok(Tally {
                notes: vec![note.to_owned()],
                ..Tally::default()
            });
        };
        let Output { status, stdout, .. } = ended?;
        ensure!(status.success(), "the hostile team failed");
        Ok(serde_json::from_slice(&stdout)?)
    }
}

/// The process itself: prints a [`Tally`] when its time is up.
pub(crate) async fn run(_: Options) -> anyhow::Result<()> {
    // Its servers keep thousands of connections open.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    )?;
    let brief: Brief = serde_json::from_reader(std::io::stdin())?;
    nice(brief.nice)?;
    let lasting = Duration::from_secs(brief.seconds);
    let attack = brief.attack;
    tokio::spawn(hosts::serve(hosts::listen(brief.hosts).await?));
    let team = Team::new(brief);
    let attacking = async {
        match attack {
            Attack::Rules => many_rules::attack(&team).await,
            Attack::Editing => editing::attack(&team).await,
            Attack::Judging => slow_texts::attack(&team).await,
            Attack::Storage => storage::attack(&team).await,
            Attack::Sockets => sockets::attack(&team).await,
            Attack::Metadata => metadata::attack(&team).await,
            Attack::Flood => flood::attack(&team).await,
            Attack::Slow => slow_requests::attack(&team).await,
        }
    };
    if timeout(lasting, attacking).await.is_ok() {
        team.note("the attack ended before its time".to_owned());
    }
    println!("{}", serde_json::to_string(&team.into_tally())?);
    Ok(())
}
