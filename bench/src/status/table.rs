//! The results of a run, and their report.

use serde::Serialize;

use crate::{
    latency::{Medians, Percentiles},
    postgres_cost::Cost,
    report::{Line, Machine, Report, against_goal, cost_lines},
};

/// Status queries for each answer without a database.
const CEILING_GOAL: f64 = 0.3;

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    pub(super) machine: Machine,
    pub(super) seed: u64,
    pub(super) sites: usize,
    pub(super) decided: u64,
    pub(super) pending: u64,
    pub(super) connections: usize,
    pub(super) rounds: Vec<Round>,
    /// Medians over the rounds.
    pub(super) rate: f64,
    pub(super) latency: Medians,
    /// Answers a second of the same server without a database.
    pub(super) ceiling_rate: f64,
    /// The one rate divided by the other.
    pub(super) ceiling_share: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Round {
    pub(super) rate: f64,
    pub(super) latency: Percentiles,
    pub(super) cost: Cost,
    pub(super) ceiling_rate: f64,
}

impl Report for Asked {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("Status queries a second"),
            self.machine.line(),
            Line::fact(
                "items",
                format!(
                    "{} decided, {} pending, of {} sites",
                    self.decided, self.pending, self.sites
                ),
            ),
            Line::fact("seed", self.seed.to_string()),
            Line::heading("Rounds"),
        ];
        for (number, round) in self.rounds.iter().enumerate() {
            let Round {
                rate,
                latency,
                ceiling_rate,
                ..
            } = round;
            let value = format!("{rate:.0}/s of {ceiling_rate:.0}/s  ({latency})");
            lines.push(Line::fact((number + 1).to_string(), value));
        }
        lines.push(Line::heading("Medians"));
        lines.push(Line::fact(
            format!("Gatehouse, {} connections", self.connections),
            format!("{:.0}/s, {}", self.rate, self.latency),
        ));
        lines.push(Line::fact(
            "without a database (/healthz)",
            format!("{:.0}/s", self.ceiling_rate),
        ));
        lines.push(Line::fact(
            "share of that",
            against_goal(self.ceiling_share, CEILING_GOAL),
        ));
        if let Some(last) = self.rounds.last() {
            lines.push(Line::heading("Cost in Postgres (last round)"));
            lines.extend(cost_lines(&last.cost));
        }
        lines
    }
}
