//! The job queues of the instance, for operators: how deep they are, what holds them back, and who works on them.

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
    more_workers: usize,
}

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
            about: about(&stats.queue),
            due: grouped(stats.due),
            runnable: grouped(stats.runnable),
            scheduled: grouped(stats.scheduled),
            running: grouped(stats.running),
            dead: (stats.dead > 0).then(|| grouped(stats.dead)),
            lag: (stats.due > 0).then(|| span(stats.oldest_due_seconds)),
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
            lease: span(worker.lease_left_seconds),
        }
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let overview = queues::list(&caller).await?;
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

/// What the jobs of a queue do.
fn about(queue: &str) -> &'static str {
    match queue {
        "images" => "Fetches the images of items.",
        "analysis" => "Asks the providers about items.",
        "rules" => "Judges items by the rules of their site.",
        "webhooks" => "Sends events to the endpoints of teams.",
        "backtests" => "Tries versions of rules on past items.",
        "hash-imports" => "Imports hashes into hash lists.",
        "hash-scans" => "Compares stored images with new hashes.",
        "recoveries" => "Sends again what endpoints have missed.",
        "statistics" => "Counts for the overviews of teams.",
        "reviews" => "Tells what people decided on the desk.",
        "bulk-decisions" => "Makes one decision about many reviews.",
        "erasures" => "Removes everything that is stored about some items.",
        "removals" => "Removes items that were judged for one answer only.",
        "closures" => "Closes sites and teams, and erases them when their grace is over.",
        _ => "Not known to this version: another version of Gatehouse made it.",
    }
}

/// A length of time, to one unit.
fn span(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "min")];
    match units.into_iter().find(|(unit, _)| seconds >= *unit) {
        Some((unit, name)) => format!("{:.0} {name}", (seconds / unit).floor()),
        None if seconds < 1.0 => "under 1 s".to_owned(),
        None => format!("{:.0} s", seconds.floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_of_this_version_is_told_apart() {
        let mut told: Vec<_> = management::queues::names().map(about).collect();
        assert!(!told.contains(&about("another")), "{told:?}");
        let all = told.len();
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), all);
    }

    #[test]
    fn a_length_of_time_has_one_unit() {
        for (seconds, told) in [
            (0.2, "under 1 s"),
            (59.9, "59 s"),
            (60.0, "1 min"),
            (7_199.0, "1 h"),
            (200_000.0, "2 d"),
        ] {
            assert_eq!(span(seconds), told);
        }
    }
}
