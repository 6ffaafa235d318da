//! The report.

use super::Submitted;
use crate::report::{Line, Report, against_goal, cost_lines};

/// Submissions a second, for each transaction of pgbench and for each answer without a database.
const RATIO_GOAL: f64 = 2.5;
const CEILING_GOAL: f64 = 0.25;

impl Report for Submitted {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("Submissions a second, against pgbench"),
            self.machine.line(),
            Line::fact("sites in turn", self.sites.to_string()),
            Line::fact(
                "bodies",
                format!("{} bytes on average", self.mean_body_bytes),
            ),
            Line::fact(
                "Idempotency-Key",
                if self.idempotency_keys {
                    "in each"
                } else {
                    "none"
                },
            ),
            Line::fact("seed", self.seed.to_string()),
            Line::heading("pgbench by clients"),
        ];
        let tried = self.search.iter();
        lines
            .extend(tried.map(|tried| {
                Line::fact(tried.clients.to_string(), format!("{:.0}/s", tried.rate))
            }));
        lines.push(Line::heading("Rounds"));
        for (number, round) in self.rounds.iter().enumerate() {
            let (own, plain) = (round.gatehouse_rate, round.pgbench.rate);
            let value = format!(
                "{own:.0}/s against {plain:.0}/s: {:.2}  ({})",
                own / plain,
                round.latency
            );
            lines.push(Line::fact((number + 1).to_string(), value));
        }
        lines.push(Line::heading("Medians"));
        lines.push(Line::fact(
            format!("Gatehouse, {} connections", self.connections),
            format!("{:.0}/s, {}", self.gatehouse_rate, self.latency),
        ));
        lines.push(Line::fact(
            "pgbench, best client count",
            format!("{:.0}/s", self.pgbench_rate),
        ));
        lines.push(Line::fact("ratio", against_goal(self.ratio, RATIO_GOAL)));
        if let Some(beside) = &self.beside {
            lines.push(Line::fact(
                "the binary beside",
                format!("{:.0}/s", beside.rate),
            ));
            lines.push(Line::fact(
                "this one divided by it, in the same round",
                format!(
                    "{:.3} ({:.2} to {:.2})",
                    beside.ratio, beside.least, beside.most
                ),
            ));
        }
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
            let plain = format!("{:.0}", last.pgbench_wal_bytes_per_item);
            lines.push(Line::fact("WAL bytes per item, pgbench", plain));
            lines.extend(cost_lines(&last.cost));
        }
        lines
    }
}
