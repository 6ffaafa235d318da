//! The report of both scenes.

use serde::Serialize;

use super::{
    capped_endpoint::Capped,
    control_loop::{Look, Shift},
    load_steps::Steps,
};
use crate::report::{Line, Report};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Scaled {
    pub(super) steps: Steps,
    pub(super) capped: Capped,
}

impl Report for Scaled {
    fn lines(&self) -> Vec<Line> {
        let Self { steps, capped } = self;
        let mut lines = steps.outcome.lines();
        for step in &steps.times {
            lines.push(Line::fact(
                format!("{} a second for {} s", step.rate, step.seconds),
                format!(
                    "the oldest undecided item: p95 {:.1} s, at most {:.1} s",
                    step.lag.p95_ms / 1_000.0,
                    step.lag.max_ms / 1_000.0
                ),
            ));
        }
        lines.extend(steps.shift.lines());
        lines.push(Line::heading(format!(
            "{} deliveries for one slow endpoint",
            capped.deliveries
        )));
        lines.extend(capped.shift.lines());
        lines.push(Line::fact("jobs left at the end", capped.left.to_string()));
        lines.push(Line::fact(
            "webhooks of another team",
            capped.others.to_string(),
        ));
        let verdict = if capped.holds() { "holds" } else { "FAILS" };
        lines.push(Line::fact("no worker was started for them", verdict));
        lines.extend(steps.outcome.verdict());
        lines
    }

    /// Whether nothing was lost, and the number of workers followed the load and nothing else.
    fn holds(&self) -> bool {
        self.steps.outcome.holds() && self.capped.holds()
    }
}

impl Shift {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::fact(
                "changes",
                format!("{}, with {} turns", self.changes, self.turns),
            ),
            Line::fact("most workers", self.most_workers.to_string()),
            Line::fact(
                "slowest stop",
                format!("{:.1} s", self.slowest_stop_seconds),
            ),
            Line::fact("workers over time", self.workers_over_time()),
        ];
        lines.extend(
            self.deaths
                .iter()
                .map(|death| Line::fact("did not end well", death.clone())),
        );
        lines
    }

    /// Such as `0 s: 1, 35 s: 5`.
    fn workers_over_time(&self) -> String {
        let mut last = None;
        let changed = self
            .looks
            .iter()
            .filter(|look| last.replace(look.workers) != Some(look.workers));
        let told: Vec<String> = changed
            .map(
                |Look {
                     at_seconds,
                     workers,
                     ..
                 }| format!("{at_seconds:.0} s: {workers}"),
            )
            .collect();
        told.join(", ")
    }
}
