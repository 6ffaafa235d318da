//! `gatehouse queue jobs` and `dead`: the live jobs, and the dead ones, one by one or counted by cause.

use std::{fmt::Write as _, sync::Arc};

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use management::{
    Caller, Management,
    dead_jobs::{self, Summary},
};
use queue::{
    DeathCause, JobId, QueueName,
    dead_jobs::{DeadJobRecord, Filter, Group},
    live_jobs::{self, Live, State},
};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::{Report, Shown, Which, ago, job_id, lasting, payload};
use crate::{
    command_line::told,
    commands::table::{Align, Left, Right, Table, counted, one_line, thousands},
    config::one_of,
    duration::humane,
};

#[derive(Debug, clap::Args)]
pub(super) struct LiveArgs {
    #[command(flatten)]
    which: Which,
    /// Only jobs in this state
    #[arg(long, value_parser = one_of(State::ALL, State::as_str))]
    state: Option<State>,
    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, clap::Args)]
pub(super) struct DeadArgs {
    #[command(flatten)]
    which: WhichDead,
    /// Count the jobs by queue, cause and error instead
    #[arg(long, conflicts_with = "payload")]
    summary: bool,
    #[command(flatten)]
    shown: Shown,
}

/// Which dead jobs.
#[derive(Debug, clap::Args)]
pub(super) struct WhichDead {
    #[command(flatten)]
    which: Which,
    /// Only jobs that died of this cause
    #[arg(long, value_parser = one_of(DeathCause::ALL, DeathCause::as_str))]
    cause: Option<DeathCause>,
    /// Only jobs that died before this one
    #[arg(long, value_name = "ID", value_parser = job_id)]
    before: Option<JobId>,
}

impl WhichDead {
    pub(super) async fn filter(&self, management: &Arc<Management>) -> anyhow::Result<Filter<'_>> {
        let which = &self.which;
        let before = match self.before {
            Some(id) => Some(find(management, id).await?.place()),
            None => None,
        };
        Ok(Filter {
            ids: which.ids(),
            queue: which.queue.map(QueueName::as_str),
            group: which.group,
            lane: which.lane,
            cause: self.cause,
            error: which.error.as_deref(),
            after: None,
            before,
        })
    }
}

async fn find(management: &Arc<Management>, id: JobId) -> anyhow::Result<DeadJobRecord> {
    let filter = Filter {
        ids: Some(&[id]),
        ..Filter::default()
    };
    let found = dead_jobs::list(&Caller::command_line(management), filter, 1).await;
    let found = found.map_err(told)?.pop();
    found.with_context(|| format!("--before: there is no dead job {id} (any more)"))
}

pub(super) async fn live(conn: &mut PgConnection, args: &LiveArgs) -> anyhow::Result<Report> {
    let which = &args.which;
    let filter = live_jobs::Filter {
        ids: which.ids(),
        queue: which.queue.map(QueueName::as_str),
        group: which.group,
        lane: which.lane,
        state: args.state,
        error: which.error.as_deref(),
    };
    let now = queue::now(conn).await?;
    let limit = args.shown.limit;
    let found = live_jobs::list(conn, filter, limit + 1).await?;
    Ok(listing(now, found, args.shown, |_| {
        format!("These are the first {limit}. To see others, add filters or raise --limit.")
    }))
}

pub(super) async fn dead(management: &Arc<Management>, args: &DeadArgs) -> anyhow::Result<Report> {
    let now = queue::now(&mut *management.pool.acquire().await?).await?;
    let caller = &Caller::command_line(management);
    let filter = args.which.filter(management).await?;
    let limit = args.shown.limit;
    if args.summary {
        let summary = dead_jobs::summary(caller, filter, limit).await;
        let Summary {
            at: now,
            matching: total,
            groups,
        } = summary.map_err(told)?;
        let document = json!({
            "at": now,
            "matching": total,
            "groups": groups.iter().map(group_document).collect::<Vec<_>>(),
        });
        return Ok(Report::new(groups_text(now, total, &groups), document));
    }
    let found = dead_jobs::list(caller, filter, limit + 1).await;
    Ok(listing(now, found.map_err(told)?, args.shown, |last| {
        let id = last.id;
        format!("These are the latest {limit}. For the next ones, add --before {id}.")
    }))
}

/// A job of a list.
trait Listed {
    /// What it is called if there is none.
    const KIND: &'static str;
    const COLUMNS: [(&'static str, Align); 7];

    fn cells(&self, now: DateTime<Utc>) -> [String; 7];

    /// The same for programs, and more.
    fn document(&self) -> Value;

    fn payload(&self) -> &str;
}

/// A list of at most as many jobs as were asked for. `more` is said after the last one if there are others.
fn listing<J: Listed>(
    now: DateTime<Utc>,
    mut jobs: Vec<J>,
    shown: Shown,
    more: impl FnOnce(&J) -> String,
) -> Report {
    let limit = shown.limit as usize;
    let is_cut = jobs.len() > limit;
    jobs.truncate(limit);
    let mut table = Table::new(J::COLUMNS);
    let mut documents = Vec::with_capacity(jobs.len());
    for job in &jobs {
        table.push(job.cells(now));
        let mut document = job.document();
        if shown.payload {
            table.note(one_line(job.payload()));
            document["payload"] = payload(job.payload());
        }
        documents.push(document);
    }
    let text = match jobs.last() {
        None => format!("No {} job matches.\n", J::KIND),
        Some(last) if is_cut => format!("{}\n{}\n", table.render(), more(last)),
        Some(_) => table.render(),
    };
    Report::new(
        text,
        json!({ "at": now, "jobs": documents, "more": is_cut }),
    )
}

impl Listed for Live {
    const KIND: &'static str = "live";
    const COLUMNS: [(&'static str, Align); 7] = [
        ("ID", Right),
        ("QUEUE", Left),
        ("LANE", Left),
        ("STATE", Left),
        ("ATTEMPT", Right),
        ("DUE", Right),
        ("LAST ERROR", Left),
    ];

    fn cells(&self, now: DateTime<Utc>) -> [String; 7] {
        [
            self.id.to_string(),
            self.queue.clone(),
            self.lane.0.to_string(),
            self.state.as_str().to_owned(),
            format!("{}/{}", self.attempt, self.max_attempts),
            if self.run_at > now {
                format!("in {}", humane(lasting(self.run_at - now)))
            } else {
                ago(now, self.run_at)
            },
            self.last_error
                .as_deref()
                .map_or_else(|| "-".to_owned(), one_line),
        ]
    }

    fn document(&self) -> Value {
        json!({
            "id": self.id.0,
            "queue": self.queue,
            "group": self.group.0,
            "lane": self.lane.0,
            "state": self.state.as_str(),
            "attempt": self.attempt,
            "max_attempts": self.max_attempts,
            "created_at": self.created_at,
            "run_at": self.run_at,
            "worker": self.locked_by,
            "last_error": self.last_error,
        })
    }

    fn payload(&self) -> &str {
        &self.payload
    }
}

impl Listed for DeadJobRecord {
    const KIND: &'static str = "dead";
    const COLUMNS: [(&'static str, Align); 7] = [
        ("ID", Right),
        ("QUEUE", Left),
        ("LANE", Left),
        ("CAUSE", Left),
        ("ATTEMPT", Right),
        ("DIED", Right),
        ("ERROR", Left),
    ];

    fn cells(&self, now: DateTime<Utc>) -> [String; 7] {
        [
            self.id.to_string(),
            self.queue.clone(),
            self.lane.0.to_string(),
            self.cause.as_str().to_owned(),
            format!("{}/{}", self.attempt, self.max_attempts),
            ago(now, self.died_at),
            one_line(&self.error),
        ]
    }

    fn document(&self) -> Value {
        json!({
            "id": self.id.0,
            "queue": self.queue,
            "group": self.group.0,
            "lane": self.lane.0,
            "cause": self.cause.as_str(),
            "attempt": self.attempt,
            "max_attempts": self.max_attempts,
            "created_at": self.created_at,
            "died_at": self.died_at,
            "error": self.error,
        })
    }

    fn payload(&self) -> &str {
        &self.payload
    }
}

/// The groups as a table, and how many jobs are in groups that are not shown.
pub(super) fn groups_text(now: DateTime<Utc>, total: u64, groups: &[Group]) -> String {
    if groups.is_empty() {
        return "No dead job matches.\n".to_owned();
    }
    let mut table = Table::new([
        ("JOBS", Right),
        ("QUEUE", Left),
        ("LANES", Right),
        ("CAUSE", Left),
        ("FIRST", Right),
        ("LAST", Right),
        ("ERROR", Left),
    ]);
    for group in groups {
        table.push([
            thousands(group.jobs),
            group.queue.clone(),
            thousands(group.lanes),
            group.cause.as_str().to_owned(),
            ago(now, group.first_died_at),
            ago(now, group.last_died_at),
            one_line(&group.error),
        ]);
    }
    let shown: u64 = groups.iter().map(|group| group.jobs.unsigned_abs()).sum();
    let mut text = table.render();
    if let Some(others @ 1..) = total.checked_sub(shown) {
        let others = counted(others, "job", "jobs");
        let _ = writeln!(
            text,
            "\nThese are the largest groups; {others} more in others."
        );
    }
    text
}

pub(super) fn group_document(group: &Group) -> Value {
    json!({
        "queue": group.queue,
        "cause": group.cause.as_str(),
        "error": group.error,
        "jobs": group.jobs,
        "lanes": group.lanes,
        "first_died_at": group.first_died_at,
        "last_died_at": group.last_died_at,
    })
}
