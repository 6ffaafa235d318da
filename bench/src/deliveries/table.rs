//! The report.

use super::Delivered;
use crate::report::{Line, Report, against_goal, cost_lines};

/// Of the bare loop's speed.
const GOAL: f64 = 0.45;

impl Report for Delivered {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!(
                "{} webhooks to {} endpoints, {} connections, {} items a job",
                self.deliveries, self.endpoints, self.connections, self.page_turns
            )),
            self.machine.line(),
        ];
        for (number, round) in self.rounds.iter().enumerate() {
            let (delivered, bare) = (round.delivered, round.bare);
            lines.push(Line::fact(
                format!("round {}", number + 1),
                format!("{delivered:.0}/s recorded, bare loop {bare:.0}/s"),
            ));
        }
        lines.push(Line::fact("ratio", against_goal(self.ratio, GOAL)));
        if let Some(last) = self.rounds.last() {
            lines.extend(cost_lines(&last.cost));
        }
        let Some(neighbours) = &self.neighbours else {
            return lines;
        };
        lines.push(Line::heading(format!(
            "97 endpoints that are well, {} submissions a second; then one is dead, one slow, and {} webhooks wait for a third",
            neighbours.rate, neighbours.backlog
        )));
        for (idle, troubled) in neighbours.idle.iter().zip(&neighbours.troubled) {
            lines.push(Line::fact("all well", idle.to_string()));
            lines.push(Line::fact("troubled", troubled.to_string()));
        }
        let (p99, bound) = (neighbours.troubled_p99_ms, neighbours.bound_ms);
        let verdict = if p99 <= bound { "met" } else { "missed" };
        lines.push(Line::fact(
            "median p99",
            format!(
                "{:.1} ms, troubled {p99:.1} ms (goal at most {bound:.1} ms: {verdict})",
                neighbours.idle_p99_ms
            ),
        ));
        lines
    }
}
