//! The loop that reads, decides, and starts or stops workers.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use serde::Serialize;
use tokio::task::JoinSet;

use super::{
    Signal,
    autoscaler::{Autoscaler, Change, Policy, turns},
    gauges::Reading,
};
use crate::{
    chaos::random_kills::RandomKills,
    processes::{Kind, Process},
    stack::Stack,
};

/// How the autoscaler looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) poll: Duration,
    pub(super) signal: Signal,
}

/// One look.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Look {
    pub(super) at_seconds: f64,
    /// The metrics divided by their targets: demand for slots, and lag.
    pub(super) ratios: [f64; 2],
    pub(super) workers: usize,
}

/// What happened.
#[derive(Debug, Default, Serialize)]
pub(super) struct Shift {
    pub(super) looks: Vec<Look>,
    pub(super) changes: usize,
    /// Changes of direction.
    pub(super) turns: usize,
    pub(super) most_workers: usize,
    /// How long the slowest worker took to end after its SIGTERM.
    pub(super) slowest_stop_seconds: f64,
    /// Processes that ended by themselves, or not well.
    pub(super) deaths: Vec<String>,
}

/// Scales until `finished`. At the end, no process is starting or stopping.
pub(super) async fn scale(
    stack: &mut Stack,
    policy: Policy,
    clock: Clock,
    began: Instant,
    finished: &Cell<bool>,
) -> anyhow::Result<Shift> {
    let mut scaler = Autoscaler::new(policy);
    let mut shift = Shift::default();
    let mut random_kills = RandomKills::default();
    let mut leaving = JoinSet::new();
    let mut number = stack.workers.len();
    let mut next = Instant::now();
    while !finished.get() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if Instant::now() < next {
            continue;
        }
        next += clock.poll;
        random_kills.watch(stack).await?;
        let at = began.elapsed();
        let current = stack.workers.len();
        let ratios = Reading::take(stack).await.ratios(clock.signal);
        let wanted = scaler.decide(at, current, &ratios);
        if wanted != current {
            let [demand, lag] = ratios;
            eprintln!(
                "{:.0} s: {current} to {wanted} workers (demand {demand:.2}, lag {lag:.2} of the target)",
                at.as_secs_f64()
            );
        }
        for worker in stack.workers.drain(wanted.min(current)..) {
            leaving.spawn(stop(worker));
        }
        let gatehouse = stack.gatehouse.clone();
        let starting = (current..wanted).map(|_| {
            number += 1;
            gatehouse.start(Kind::Worker, number)
        });
        stack.workers.extend(try_join_all(starting).await?);
        shift.most_workers = shift.most_workers.max(stack.workers.len());
        shift.looks.push(Look {
            at_seconds: at.as_secs_f64(),
            ratios,
            workers: stack.workers.len(),
        });
    }
    while let Some(stopped) = leaving.join_next().await {
        match stopped? {
            Ok(took) => {
                shift.slowest_stop_seconds = shift.slowest_stop_seconds.max(took.as_secs_f64());
            }
            Err(error) => shift.deaths.push(format!("{error:#}")),
        }
    }
    shift.deaths.append(&mut random_kills.deaths);
    let changes: Vec<Change> = scaler.into_changes();
    shift.changes = changes.len();
    shift.turns = turns(&changes);
    Ok(shift)
}

async fn stop(mut worker: Process) -> anyhow::Result<Duration> {
    let asked = Instant::now();
    worker.stop().await?;
    Ok(asked.elapsed())
}
