//! `gatehouse queue replay`: runs dead jobs again, in batches, and can be stopped and continued.

mod progress;

use std::{fmt::Write as _, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::ArgGroup;
use queue::dead::{self, Replay};
use serde_json::json;
use sqlx::PgConnection;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{
    Report,
    dead::{WhichDead, group_document, groups_text},
    table::counted,
};
use crate::{duration::humane, service};
use progress::Progress;

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

pub(super) async fn run(conn: &mut PgConnection, args: &Args) -> anyhow::Result<Report> {
    let stop = service::stop_signal()?;
    let filter = args.which.filter(conn).await?;
    let mut replay = Replay::begin(conn, filter).await?;
    let matching = dead::count(conn, replay.filter()).await?;
    if args.dry_run {
        return dry_run(conn, &replay, matching).await;
    }
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
        if !go_through(conn, &mut replay, &mut progress, &stop).await? {
            return Ok(interrupted(&progress));
        }
        left = dead::count(conn, replay.filter()).await?;
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
    conn: &mut PgConnection,
    replay: &mut Replay<'_>,
    progress: &mut Progress,
    stop: &CancellationToken,
) -> anyhow::Result<bool> {
    while !stop.is_cancelled() {
        let batch = match replay.next(conn, BATCH).await {
            Ok(batch) => batch,
            Err(error) => {
                progress.clear();
                let done = progress.done();
                return Err(error).context(format!(
                    "{done} replayed. Run the same command again to continue"
                ));
            }
        };
        if let Err(error) = queue::wake(conn, &batch.queues).await {
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

async fn dry_run(
    conn: &mut PgConnection,
    replay: &Replay<'_>,
    matching: u64,
) -> anyhow::Result<Report> {
    let now = queue::now(conn).await?;
    let groups = dead::summary(conn, replay.filter(), GROUPS).await?;
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
