//! The results of the incidents, and their report.

use serde::Serialize;

use super::{incidents::Kind, recovery::Recovery};
use crate::{
    chaos::outcome::Outcome,
    report::{Line, Report},
};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Proof {
    #[serde(flatten)]
    pub(super) outcome: Outcome,
    /// The same figures without an incident, for comparison.
    pub(super) undisturbed: Recovery,
    pub(super) incidents: Vec<Incident>,
}

/// An incident.
#[derive(Debug, Serialize)]
pub(super) struct Incident {
    pub(super) kind: Kind,
    pub(super) told: String,
    /// From its beginning until the database could be written to.
    pub(super) lasted: f64,
    pub(super) recovery: Recovery,
    /// What became of the submissions during it and the recovery.
    pub(super) accepted: usize,
    pub(super) unknown: usize,
    /// How often no server could be reached.
    pub(super) unsent: u64,
    /// The longest that an answer took, in seconds.
    pub(super) slowest_answer: f64,
}

impl Report for Proof {
    fn lines(&self) -> Vec<Line> {
        let mut lines = self.outcome.lines();
        lines.push(Line::heading("no incident yet"));
        lines.extend(self.undisturbed.lines());
        for incident in &self.incidents {
            lines.extend(incident.lines());
        }
        let tried = |kind: &Kind| self.incidents.iter().any(|incident| incident.kind == *kind);
        for kind in Kind::ALL.iter().filter(|kind| !tried(kind)) {
            lines.push(Line::heading(format!("{}: not tried", kind.name())));
        }
        lines.extend(self.outcome.verdict());
        lines
    }

    /// Whether every check holds.
    fn holds(&self) -> bool {
        self.outcome.holds()
    }
}

impl Incident {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!("{}: {}", self.kind.name(), self.told)),
            Line::fact("lasted", format!("{:.1} s", self.lasted)),
        ];
        lines.extend(self.recovery.lines());
        lines.push(Line::fact(
            "submissions meanwhile",
            format!(
                "{} accepted, {} unknown, {} not sent, the slowest answer after {:.1} s",
                self.accepted, self.unknown, self.unsent, self.slowest_answer
            ),
        ));
        lines
    }
}
