//! The common result of every proof: what was submitted, and what the audit found.

use std::time::Duration;

use serde::Serialize;

use super::{
    audit::{Audit, Check},
    client::Ledger,
};
use crate::report::{Line, Machine};

/// How a proof ended.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    machine: Machine,
    seed: u64,
    /// Submissions that were answered with a 200.
    accepted: usize,
    /// Submissions without an answer, or with one that promises nothing.
    unknown: usize,
    /// Unknown submissions that were stored.
    unknown_stored: usize,
    /// From the last submission until nothing was left to do.
    drained_after_seconds: f64,
    checks: Vec<Check>,
}

impl Outcome {
    /// After an audit that has run.
    pub(crate) fn of(
        audit: Audit<'_>,
        ledger: &Ledger,
        machine: Machine,
        seed: u64,
        drained: Duration,
    ) -> Self {
        Self {
            machine,
            seed,
            accepted: ledger.accepted.len(),
            unknown: ledger.unknown.len(),
            unknown_stored: audit.unknown_stored(),
            drained_after_seconds: drained.as_secs_f64(),
            checks: audit.into_checks(),
        }
    }

    /// Whether every check holds.
    pub(crate) fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.failures == 0)
    }

    /// What happened.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let unknown = format!(
            "{}, of which {} are stored",
            self.unknown, self.unknown_stored
        );
        vec![
            Line::heading("What happened"),
            self.machine.line(),
            Line::fact("seed", self.seed.to_string()),
            Line::fact("accepted", self.accepted.to_string()),
            Line::fact("unknown", unknown),
            Line::fact(
                "at rest after",
                format!("{:.1} s", self.drained_after_seconds),
            ),
        ]
    }

    /// The checks, and whether all of them hold.
    pub(crate) fn verdict(&self) -> Vec<Line> {
        let mut lines = vec![Line::heading("What must hold")];
        lines.extend(self.checks.iter().map(|check| {
            let verdict = match check.failures {
                0 => "holds".to_owned(),
                count => format!("FAILS {count} times: {}", check.examples.join(", ")),
            };
            Line::fact(check.name.clone(), verdict)
        }));
        lines.push(Line::heading(if self.holds() {
            "Everything holds."
        } else {
            "The proof FAILED."
        }));
        lines
    }
}
