//! The results of a run, and their report.

use serde::Serialize;

use super::bench::{CLAIM, LANES, NEWCOMERS_JOBS};
use crate::{
    latency::Percentiles,
    report::{Line, Machine, Report},
};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Fair {
    pub(super) machine: Machine,
    pub(super) backlog: u64,
    pub(super) million: u64,
    pub(super) rounds: Vec<Round>,
    /// Medians of the newcomer's 95th percentile over the rounds.
    pub(super) idle_ms: f64,
    pub(super) busy_ms: f64,
    /// The most that `busy_ms` may be.
    pub(super) bound_ms: f64,
    pub(super) fresh: Percentiles,
    pub(super) finished: Percentiles,
    pub(super) scheduled: Percentiles,
}

/// The newcomer's waits.
#[derive(Debug, Serialize)]
pub(super) struct Round {
    pub(super) idle: Percentiles,
    pub(super) busy: Percentiles,
}

impl Report for Fair {
    fn lines(&self) -> Vec<Line> {
        let newcomer = format!(
            "{NEWCOMERS_JOBS} jobs of one customer beside {} of another, 95th percentile of the wait",
            self.backlog
        );
        let mut lines = vec![
            Line::heading("Fairness"),
            self.machine.line(),
            Line::heading(newcomer),
        ];
        for (number, round) in self.rounds.iter().enumerate() {
            let value = format!(
                "idle {:.2} ms, busy {:.2} ms",
                round.idle.p95_ms, round.busy.p95_ms
            );
            lines.push(Line::fact(format!("round {}", number + 1), value));
        }
        let verdict = met(self.busy_ms <= self.bound_ms);
        lines.push(Line::fact(
            "medians",
            format!("idle {:.2} ms, busy {:.2} ms", self.idle_ms, self.busy_ms),
        ));
        lines.push(Line::fact(
            "goal",
            format!("at most {:.2} ms: {verdict}", self.bound_ms),
        ));
        lines.push(Line::heading(format!("A claim of {CLAIM}, {LANES} lanes")));
        lines.push(Line::fact("fresh table", self.fresh.to_string()));
        let worn = [
            (format!("{} scheduled", self.million), self.scheduled),
            (format!("{} just finished", self.million), self.finished),
        ];
        for (name, percentiles) in worn {
            let ratio = percentiles.p99_ms / self.fresh.p99_ms;
            let verdict = met(ratio <= 2.0);
            lines.push(Line::fact(
                name,
                format!("{percentiles}: {ratio:.2} x the fresh p99, goal 2: {verdict}"),
            ));
        }
        lines
    }
}

/// A word for whether a goal is met.
const fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}
