//! `gatehouse queue dead`: the dead jobs, one by one or counted by cause.

mod groups;

use std::fmt::Write as _;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use management::{
    Caller, Management,
    dead_jobs::{self, Summary},
};
use queue::{
    DeathCause, JobId,
    dead_jobs::{DeadJobRecord, Filter},
};
use serde_json::{Value, json};

use super::{
    Report, Shown, Which, ago, job_id, payload,
    table::{Left, Right, Table, one_line},
};
use crate::{command_line::told, config::one_of};

pub(super) use groups::{group_document, groups_text};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
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
    pub(super) async fn filter(&self, management: &Management) -> anyhow::Result<Filter<'_>> {
        let Which {
            queue,
            group,
            lane,
            ids,
            error,
        } = &self.which;
        let before = match self.before {
            Some(id) => Some(find(management, id).await?.place()),
            None => None,
        };
        Ok(Filter {
            ids: (!ids.is_empty()).then_some(ids.as_slice()),
            queue: queue.map(queue::QueueName::as_str),
            group: *group,
            lane: *lane,
            cause: self.cause,
            error: error.as_deref(),
            after: None,
            before,
        })
    }
}

async fn find(management: &Management, id: JobId) -> anyhow::Result<DeadJobRecord> {
    let filter = Filter {
        ids: Some(&[id]),
        ..Filter::default()
    };
    let found = dead_jobs::list(management, &Caller::command_line(), filter, 1).await;
    let found = found.map_err(told)?.pop();
    found.with_context(|| format!("--before: there is no dead job {id} (any more)"))
}

pub(super) async fn run(management: &Management, args: &Args) -> anyhow::Result<Report> {
    let now = queue::now(&mut *management.pool.acquire().await?).await?;
    let caller = &Caller::command_line();
    let filter = args.which.filter(management).await?;
    let limit = args.shown.limit;
    if args.summary {
        let summary = dead_jobs::summary(management, caller, filter, limit).await;
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
    let found = dead_jobs::list(management, caller, filter, limit + 1).await;
    let mut found = found.map_err(told)?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);

    let with_payload = args.shown.payload;
    let mut text = if found.is_empty() {
        "No dead job matches.\n".to_owned()
    } else {
        table(now, &found, with_payload)
    };
    if more && let Some(last) = found.last() {
        let _ = writeln!(
            text,
            "\nThese are the latest {limit}. For the next ones, add --before {}.",
            last.id
        );
    }
    let documents: Vec<Value> = found
        .iter()
        .map(|job| document(job, with_payload))
        .collect();
    let document = json!({ "at": now, "jobs": documents, "more": more });
    Ok(Report::new(text, document))
}

fn table(now: DateTime<Utc>, jobs: &[DeadJobRecord], with_payload: bool) -> String {
    let mut table = Table::new([
        ("ID", Right),
        ("QUEUE", Left),
        ("LANE", Left),
        ("CAUSE", Left),
        ("ATTEMPT", Right),
        ("DIED", Right),
        ("ERROR", Left),
    ]);
    for job in jobs {
        table.push([
            job.id.to_string(),
            job.queue.clone(),
            job.lane.0.to_string(),
            job.cause.as_str().to_owned(),
            format!("{}/{}", job.attempt, job.max_attempts),
            ago(now, job.died_at),
            one_line(&job.error),
        ]);
        if with_payload {
            table.note(one_line(&job.payload));
        }
    }
    table.render()
}

fn document(job: &DeadJobRecord, with_payload: bool) -> Value {
    let mut document = json!({
        "id": job.id.0,
        "queue": job.queue,
        "group": job.group.0,
        "lane": job.lane.0,
        "cause": job.cause.as_str(),
        "attempt": job.attempt,
        "max_attempts": job.max_attempts,
        "created_at": job.created_at,
        "died_at": job.died_at,
        "error": job.error,
    });
    if with_payload {
        document["payload"] = payload(&job.payload);
    }
    document
}
