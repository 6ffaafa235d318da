//! `gatehouse queue jobs`: the live jobs.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use queue::live_jobs::{self, Filter, Live, State};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::{
    Report, Shown, Which, ago, lasting, payload,
    table::{Left, Right, Table, one_line},
};
use crate::{config::one_of, duration::humane};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Only jobs in this state
    #[arg(long, value_parser = one_of(State::ALL, State::as_str))]
    state: Option<State>,
    #[command(flatten)]
    shown: Shown,
}

pub(super) async fn run(conn: &mut PgConnection, args: &Args) -> anyhow::Result<Report> {
    let Which {
        queue,
        group,
        lane,
        ids,
        error,
    } = &args.which;
    let filter = Filter {
        ids: (!ids.is_empty()).then_some(ids.as_slice()),
        queue: queue.map(queue::QueueName::as_str),
        group: *group,
        lane: *lane,
        state: args.state,
        error: error.as_deref(),
    };
    let now = queue::now(conn).await?;
    let limit = args.shown.limit;
    let mut found = live_jobs::list(conn, filter, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);

    let with_payload = args.shown.payload;
    let documents: Vec<Value> = found
        .iter()
        .map(|job| document(job, with_payload))
        .collect();
    let mut text = if found.is_empty() {
        "No live job matches.\n".to_owned()
    } else {
        table(now, &found, with_payload)
    };
    if more {
        let _ = writeln!(
            text,
            "\nThese are the first {limit}. To see others, add filters or raise --limit."
        );
    }
    let document = json!({ "at": now, "jobs": documents, "more": more });
    Ok(Report::new(text, document))
}

fn table(now: DateTime<Utc>, jobs: &[Live], with_payload: bool) -> String {
    let mut table = Table::new([
        ("ID", Right),
        ("QUEUE", Left),
        ("LANE", Left),
        ("STATE", Left),
        ("ATTEMPT", Right),
        ("DUE", Right),
        ("LAST ERROR", Left),
    ]);
    for job in jobs {
        table.push([
            job.id.to_string(),
            job.queue.clone(),
            job.lane.0.to_string(),
            job.state.as_str().to_owned(),
            format!("{}/{}", job.attempt, job.max_attempts),
            if job.run_at > now {
                format!("in {}", humane(lasting(job.run_at - now)))
            } else {
                ago(now, job.run_at)
            },
            job.last_error
                .as_deref()
                .map_or_else(|| "-".to_owned(), one_line),
        ]);
        if with_payload {
            table.note(one_line(&job.payload));
        }
    }
    table.render()
}

fn document(job: &Live, with_payload: bool) -> Value {
    let mut document = json!({
        "id": job.id.0,
        "queue": job.queue,
        "group": job.group.0,
        "lane": job.lane.0,
        "state": job.state.as_str(),
        "attempt": job.attempt,
        "max_attempts": job.max_attempts,
        "created_at": job.created_at,
        "run_at": job.run_at,
        "worker": job.locked_by,
        "last_error": job.last_error,
    });
    if with_payload {
        document["payload"] = payload(&job.payload);
    }
    document
}
