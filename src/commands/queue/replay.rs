//! `gatehouse queue replay`: runs dead jobs again, in batches, and can be stopped and continued.

use std::sync::Arc;

use std::{
    fmt::Write as _,
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::ArgGroup;
use management::{
    Caller, Management,
    dead_jobs::{self, Summary},
};
use queue::dead_jobs::Replay;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{
    Report,
    listings::{WhichDead, group_document, groups_text},
    wake,
};
use crate::{
    command_line::told,
    commands::table::{counted, thousands},
    duration::humane,
    service,
};

/// Jobs visited in one transaction.
const BATCH: u32 = 1_000;
/// A pass skips jobs that others have locked, for example the last batch of a killed replay. Then
/// another pass follows.
const PASSES: u32 = 3;
const BETWEEN_PASSES: Duration = Duration::from_secs(1);
/// Groups shown by a dry run.
const GROUPS: u32 = 20;
/// The exit code that a shell reports for a command ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("choice").required(true).multiple(true)
    .args(["queue", "group", "lane", "ids", "error", "cause", "before", "all"])))]
pub(super) struct Args {
    #[command(flatten)]
    which: WhichDead,
    /// Replay every dead job
    #[arg(long, conflicts_with_all = ["queue", "group", "lane", "ids", "error", "cause", "before"])]
    all: bool,
    /// Only show what would be replayed
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(management: &Arc<Management>, args: &Args) -> anyhow::Result<Report> {
    let stop = service::stop_signal()?;
    let caller = &Caller::command_line(management);
    let filter = args.which.filter(management).await?;
    let replay = dead_jobs::begin_replay(caller, filter).await;
    let mut replay = replay.map_err(told)?;
    if args.dry_run {
        return dry_run(management, &replay).await;
    }
    let matching = dead_jobs::count(caller, replay.filter()).await;
    let matching = matching.map_err(told)?;
    let mut progress = Progress::new(matching);
    let mut left = matching;
    for pass in 0..PASSES {
        if left == 0 {
            break;
        }
        if pass > 0 {
            tokio::time::sleep(BETWEEN_PASSES).await;
            replay.rewind();
        }
        if !go_through(management, &mut replay, &mut progress, &stop).await? {
            return Ok(interrupted(&progress));
        }
        left = dead_jobs::count(caller, replay.filter())
            .await
            .map_err(told)?;
    }
    let mut text = if matching == 0 {
        "No dead job matches: nothing to replay.\n".to_owned()
    } else {
        let took = humane(progress.begun.elapsed().max(Duration::from_secs(1)));
        format!("{} replayed in {took}.\n", progress.done())
    };
    if left > 0 {
        let left = counted(left, "job is", "jobs are");
        let _ = writeln!(
            text,
            "{left} being replayed by another command. Run this command again."
        );
    } else if progress.replayed < matching {
        text += "The others were replayed or removed by another command meanwhile.\n";
    }
    Ok(Report::new(text, progress.document(false)))
}

/// One pass, batch by batch. `false` if it was stopped before its end.
async fn go_through(
    management: &Arc<Management>,
    replay: &mut Replay<'_>,
    progress: &mut Progress,
    stop: &CancellationToken,
) -> anyhow::Result<bool> {
    let caller = &Caller::command_line(management);
    while !stop.is_cancelled() {
        let batch = match dead_jobs::replay(caller, replay, BATCH).await {
            Ok(batch) => batch,
            Err(refused) => {
                progress.clear();
                let done = progress.done();
                return Err(told(refused)).context(format!(
                    "{done} replayed. Run the same command again to continue"
                ));
            }
        };
        if let Err(error) = wake(management, &batch.queues).await {
            debug!(%error, "cannot notify the workers; they find the jobs by polling");
        }
        progress.add(batch.replayed);
        if batch.is_last {
            progress.clear();
            return Ok(true);
        }
    }
    progress.clear();
    Ok(false)
}

async fn dry_run(management: &Arc<Management>, replay: &Replay<'_>) -> anyhow::Result<Report> {
    let caller = &Caller::command_line(management);
    let summary = dead_jobs::summary(caller, replay.filter(), GROUPS).await;
    let Summary {
        at: now,
        matching,
        groups,
    } = summary.map_err(told)?;
    let mut text = groups_text(now, matching, &groups);
    if matching > 0 {
        let jobs = counted(matching, "dead job", "dead jobs");
        let _ = writeln!(text, "\nWithout --dry-run, {jobs} would be replayed.");
    }
    let document = json!({
        "matching": matching,
        "replayed": 0,
        "interrupted": false,
        "groups": groups.iter().map(group_document).collect::<Vec<_>>(),
    });
    Ok(Report::new(text, document))
}

fn interrupted(progress: &Progress) -> Report {
    Report {
        text: format!(
            "{} replayed. Run the same command again to continue.\n",
            progress.done()
        ),
        document: progress.document(true),
        code: ExitCode::from(INTERRUPTED),
    }
}

/// How often progress is reported on a terminal, and elsewhere.
const REWRITE: Duration = Duration::from_millis(100);

const LINE: Duration = Duration::from_secs(5);

/// Reports the progress of the replay on stderr.
struct Progress {
    matching: u64,
    replayed: u64,
    begun: Instant,
    told: Instant,
    terminal: bool,
}

impl Progress {
    fn new(matching: u64) -> Self {
        Self {
            matching,
            replayed: 0,
            begun: Instant::now(),
            told: Instant::now(),
            terminal: std::io::stderr().is_terminal(),
        }
    }

    fn add(&mut self, replayed: u64) {
        self.replayed += replayed;
        let every = if self.terminal { REWRITE } else { LINE };
        if self.told.elapsed() < every {
            return;
        }
        self.told = Instant::now();
        let ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let rate = self.replayed * 1_000 / ms.max(1);
        let left = match self
            .matching
            .saturating_sub(self.replayed)
            .checked_div(rate)
        {
            Some(seconds) => humane(Duration::from_secs(seconds)),
            None => "?".to_owned(),
        };
        let line = format!(
            "{} replayed, {}/s, {left} left",
            self.done(),
            thousands(rate)
        );
        let mut err = std::io::stderr();
        // If nobody reads stderr any more, the replay still continues.
        let _ = if self.terminal {
            write!(err, "\r\x1b[2K{line}")
        } else {
            writeln!(err, "{line}")
        };
    }

    /// Clears the line for the result.
    fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    fn done(&self) -> String {
        format!(
            "{} of {}",
            thousands(self.replayed),
            counted(self.matching, "dead job", "dead jobs")
        )
    }

    fn document(&self, interrupted: bool) -> serde_json::Value {
        json!({
            "matching": self.matching,
            "replayed": self.replayed,
            "interrupted": interrupted,
        })
    }
}
