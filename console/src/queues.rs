//! The job queues of the instance, for operators: how deep they are, what holds them back, and who works on them.

mod labels;
pub(crate) mod queue;
mod target;

use askama::Template;
use chrono::{DateTime, Utc};
use management::queues::{self, QueueState, Worker};

use crate::{
    number::grouped,
    page::{self, Answer, Frame, PageRequest},
};

/// The most workers on a page.
const MOST_WORKERS: usize = 100;

#[derive(Template)]
#[template(path = "queues.html")]
struct List {
    frame: Frame,
    rows: Vec<Row>,
    workers: Vec<WorkerRow>,
    /// How many live workers there are.
    all_workers: String,
    /// How many of them are not shown.
    more_workers: usize,
}

/// A queue.
struct Row {
    name: String,
    about: &'static str,
    due: String,
    runnable: String,
    scheduled: String,
    running: String,
    /// How many jobs are dead; none if it is zero.
    dead: Option<String>,
    /// How long the oldest due job has been due; none if there is none.
    lag: Option<String>,
    is_paused: bool,
    /// The end of the pause, if it has one.
    paused_until: Option<DateTime<Utc>>,
    /// What holds single groups and lanes back.
    holds: Vec<String>,
    /// How many jobs of a lane may run at once, if the lane has no cap of its own.
    lane_cap: Option<u32>,
}

impl From<QueueState> for Row {
    fn from(state: QueueState) -> Self {
        let QueueState {
            stats,
            restrictions,
            lane_cap,
        } = state;
        let holds = [
            (restrictions.paused_groups, "group", "paused"),
            (restrictions.capped_groups, "group", "capped"),
            (restrictions.paused_lanes, "lane", "paused"),
            (restrictions.capped_lanes, "lane", "capped"),
        ];
        let holds = holds.into_iter().filter(|(count, ..)| *count > 0);
        Self {
            about: labels::about(&stats.queue),
            due: grouped(stats.due),
            runnable: grouped(stats.runnable),
            scheduled: grouped(stats.scheduled),
            running: grouped(stats.running),
            dead: (stats.dead > 0).then(|| grouped(stats.dead)),
            lag: (stats.due > 0).then(|| labels::span(stats.oldest_due_seconds)),
            is_paused: restrictions.is_paused,
            paused_until: restrictions.paused_until,
            holds: holds
                .map(|(count, what, how)| {
                    let plural = if count == 1 { "" } else { "s" };
                    format!("{} {what}{plural} {how}", grouped(count))
                })
                .collect(),
            lane_cap,
            name: stats.queue,
        }
    }
}

/// A live worker process.
struct WorkerRow {
    id: String,
    /// What and where it is.
    name: String,
    started: DateTime<Utc>,
    running: String,
    /// How long its lease is valid if it is not renewed.
    lease: String,
}

impl From<Worker> for WorkerRow {
    fn from(worker: Worker) -> Self {
        Self {
            id: worker.id.to_string(),
            name: worker.process.to_string(),
            started: worker.started_at,
            running: grouped(worker.running),
            lease: labels::span(worker.lease_left_seconds),
        }
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let overview = queues::list(&request.management, &caller).await?;
    let all = overview.workers.len();
    Ok(page::shown(&List {
        frame: Frame::of(&request, "queues").await?,
        rows: overview.queues.into_iter().map(Row::from).collect(),
        workers: overview
            .workers
            .into_iter()
            .take(MOST_WORKERS)
            .map(WorkerRow::from)
            .collect(),
        all_workers: grouped(all),
        more_workers: all.saturating_sub(MOST_WORKERS),
    }))
}
