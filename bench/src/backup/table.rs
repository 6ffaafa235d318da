//! The report.

use serde::Serialize;

use super::Round;
use crate::report::{Line, Report};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Restored {
    pub(super) rounds: Vec<Round>,
}

impl Report for Restored {
    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for round in &self.rounds {
            lines.push(Line::heading(format!(
                "Loss {} of a service, restored from {}",
                round.number,
                round.kept.name()
            )));
            lines.extend(round.outcome.lines());
            lines.extend([
                Line::fact("backup", format!("{:.1} s", round.backup_seconds)),
                Line::fact("restore", format!("{:.1} s", round.restore_seconds)),
                Line::fact("acknowledged before", round.before.to_string()),
                Line::fact("acknowledged later, gone", round.gone.to_string()),
                Line::fact(
                    "webhooks that came again, same ids",
                    round.compared.again.to_string(),
                ),
                Line::fact(
                    "verdicts told again, new ids",
                    round.compared.anew.to_string(),
                ),
            ]);
            lines.extend(round.outcome.verdict());
        }
        lines
    }

    /// Whether all restored databases are right.
    fn holds(&self) -> bool {
        self.rounds.iter().all(|round| round.outcome.holds())
    }
}
