//! `gatehouse queue`: how operators inspect and repair the queue.

mod listings;
mod pause;
mod replay;
mod status;

use std::{process::ExitCode, sync::Arc, time::Duration};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use clap::{Args, Subcommand, builder::NonEmptyStringValueParser};
use management::Management;
use queue::{Group, JobId, Lane, Queue, QueueName};
use serde_json::Value;

use crate::{
    command_line::{self, Means},
    config::{AnyDatabaseOptions, queue_name, whole},
    duration::humane,
    service, terminal,
};

/// Options of `gatehouse queue`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: AnyDatabaseOptions,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the waiting, running and dead jobs of each queue, its pauses and caps, and the live workers
    Status(status::Args),
    /// List live jobs, those that have been due longest first
    Jobs(listings::LiveArgs),
    /// List dead jobs, latest first, or count them
    Dead(listings::DeadArgs),
    /// Run dead jobs again. Ctrl-C stops the replay, and the same command continues it
    Replay(replay::Args),
    /// Start no more jobs of a queue, or of one of its groups or lanes. Running jobs continue
    Pause(pause::PauseArgs),
    /// End the pause of a queue, or of one of its groups or lanes
    Resume(pause::Target),
    /// Set how many jobs of a group or a lane can run at once, over all processes
    Cap(pause::CapArgs),
}

/// A selection of live or dead jobs.
#[derive(Debug, Args)]
struct Which {
    /// Only jobs of this queue
    #[arg(long, value_parser = queue_name())]
    queue: Option<QueueName>,
    /// Only jobs of this group: a team, with all its lanes
    #[arg(long, value_name = "UUID", value_parser = group)]
    group: Option<Group>,
    /// Only jobs of this lane: a team in analysis, rules, backtests and recoveries, an endpoint in webhooks
    #[arg(long, value_name = "UUID", value_parser = lane)]
    lane: Option<Lane>,
    /// Only the job with this id. You can repeat the option
    #[arg(long = "id", value_name = "ID", value_parser = job_id)]
    ids: Vec<JobId>,
    /// Only jobs with this text in the last error
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    error: Option<String>,
}

impl Which {
    fn ids(&self) -> Option<&[JobId]> {
        (!self.ids.is_empty()).then_some(self.ids.as_slice())
    }
}

/// How many jobs a listing shows, and how much of each.
#[derive(Clone, Copy, Debug, Args)]
struct Shown {
    /// Show at most this many jobs
    #[arg(long, default_value_t = 50, value_parser = whole(1..=10_000_u32))]
    limit: u32,
    /// Also show the content of the jobs
    #[arg(long)]
    payload: bool,
}

/// Runs the subcommand and prints its result.
pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let located = options.database.locate()?;
    let pool = service::open_current(&located.database, "gatehouse queue").await?;
    let queue = Queue::open_to_notify(pool.clone());
    let management = &command_line::management(&pool, queue, Means::default());
    let report = match options.action {
        Action::Status(args) => status::run(management, args).await?,
        Action::Jobs(args) => listings::live(&mut *management.pool.acquire().await?, &args).await?,
        Action::Dead(args) => listings::dead(management, &args).await?,
        Action::Replay(args) => replay::run(management, &args).await?,
        Action::Pause(args) => pause::pause(management, args).await?,
        Action::Resume(target) => pause::resume(management, target).await?,
        Action::Cap(args) => pause::cap(management, args).await?,
    };
    let text = if options.json {
        format!("{}\n", terminal::json(report.document.to_string()))
    } else {
        report.text
    };
    match terminal::print(&text) {
        // The reader closed the pipe: that is no error.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(report.code)
}

/// What a command found or did.
struct Report {
    /// For people, whole lines.
    text: String,
    /// For programs.
    document: Value,
    code: ExitCode,
}

impl Report {
    fn new(text: String, document: Value) -> Self {
        Self {
            text,
            document,
            code: ExitCode::SUCCESS,
        }
    }
}

fn lane(text: &str) -> Result<Lane, String> {
    text.parse().map(Lane).map_err(|_| {
        "a lane is a UUID: the team's in analysis, rules, backtests and recoveries, the endpoint's in webhooks".to_owned()
    })
}

fn group(text: &str) -> Result<Group, String> {
    text.parse()
        .map(Group)
        .map_err(|_| "a group is a UUID: the team's".to_owned())
}

fn job_id(text: &str) -> Result<JobId, String> {
    let id = text.parse().ok().filter(|id| *id > 0).map(JobId);
    id.ok_or_else(|| "the id of a job is a whole number from 1".to_owned())
}

/// Tells the workers that jobs of these queues may run. The command may end before its queue has
/// done so.
async fn wake<Q: AsRef<str>>(management: &Arc<Management>, queues: &[Q]) -> anyhow::Result<()> {
    let mut conn = management.pool.acquire().await?;
    Ok(queue::wake(&mut conn, queues).await?)
}

/// How long ago something was.
fn ago(now: DateTime<Utc>, then: DateTime<Utc>) -> String {
    format!("{} ago", humane(lasting(now - then)))
}

/// How long until something.
fn lasting(time: TimeDelta) -> Duration {
    time.to_std().unwrap_or_default()
}

/// The end of a pause. `None`: until somebody resumes it.
fn until(now: DateTime<Utc>, end: Option<DateTime<Utc>>) -> String {
    match end {
        Some(end) => format!(
            "until {} ({} left)",
            end.to_rfc3339_opts(SecondsFormat::Secs, true),
            humane(lasting(end - now))
        ),
        None => "until resumed".to_owned(),
    }
}

/// The content of a job, as JSON if possible.
fn payload(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
