//! The results of the proof, and their report.

use serde::Serialize;

use super::{outcome::Outcome, random_kills::RandomKills};
use crate::report::{Line, Report};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Proof {
    #[serde(flatten)]
    pub(super) outcome: Outcome,
    #[serde(rename = "havoc")]
    pub(super) random_kills: RandomKills,
    /// Requests that the receiver answered with a 500.
    pub(super) webhooks_refused: u64,
    /// Webhooks that came once more, which is allowed.
    pub(super) webhooks_repeated: u64,
}

impl Report for Proof {
    fn lines(&self) -> Vec<Line> {
        let RandomKills {
            workers_killed,
            apis_killed,
            receivers_killed,
            postgres_restarts,
            ..
        } = &self.random_kills;
        let mut lines = self.outcome.lines();
        lines.extend([
            Line::fact(
                "killed",
                format!(
                    "{workers_killed} times a worker, {apis_killed} times an API, {receivers_killed} times the receiver"
                ),
            ),
            Line::fact("Postgres restarted", format!("{postgres_restarts} times")),
            Line::fact(
                "webhooks answered with 500",
                self.webhooks_refused.to_string(),
            ),
            Line::fact(
                "webhooks that came again",
                self.webhooks_repeated.to_string(),
            ),
        ]);
        lines.extend(self.outcome.verdict());
        lines
    }

    /// Whether every check holds.
    fn holds(&self) -> bool {
        self.outcome.holds()
    }
}
