//! The report.

use serde::Serialize;

use super::{Round, fleet::Stage};
use crate::report::{Line, Report};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Upgraded {
    pub(super) rounds: Vec<Round>,
}

impl Report for Upgraded {
    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for round in &self.rounds {
            lines.push(Line::heading(format!(
                "Upgrade, {}, and back",
                round.order.name()
            )));
            lines.extend(round.outcome.lines());
            lines.extend(round.stages.iter().map(Stage::line));
            lines.extend(round.outcome.verdict());
        }
        lines
    }

    /// Whether nothing failed or was lost in either order.
    fn holds(&self) -> bool {
        self.rounds.iter().all(|round| round.outcome.holds())
    }
}

impl Stage {
    fn line(&self) -> Line {
        let Self {
            name,
            seconds,
            accepted,
            failed,
            slowest_answer,
        } = self;
        Line::fact(
            *name,
            format!(
                "{seconds:.0} s, {accepted} accepted, {failed} failed, slowest answer {slowest_answer:.2} s"
            ),
        )
    }
}
