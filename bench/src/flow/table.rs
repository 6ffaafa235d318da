//! What people see of it.

use super::Flowed;
use crate::report::{Line, Report, cost_lines};

impl Report for Flowed {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!("The whole way at {} items a second", self.rate)),
            self.machine.line(),
            Line::fact(
                "processes",
                format!("{} API, {} worker", self.apis, self.workers),
            ),
            Line::fact("seed", self.seed.to_string()),
        ];
        for (number, round) in self.rounds.iter().enumerate() {
            lines.push(Line::heading(format!("Round {}", number + 1)));
            lines.push(Line::fact(
                "submit to webhook received",
                round.whole_way.to_string(),
            ));
            lines.push(Line::fact("submit to answer", round.submission.to_string()));
            lines.push(Line::fact(
                "bare HTTP round trip",
                round.bare_http.to_string(),
            ));
            lines.push(Line::fact(
                "bare SQL round trip",
                round.bare_sql.to_string(),
            ));
        }
        lines.push(Line::heading(
            "Medians over the rounds, submit to webhook received",
        ));
        lines.push(Line::fact("p50", format!("{:.2} ms", self.p50_ms)));
        lines.push(Line::fact("p99", format!("{:.2} ms", self.p99_ms)));
        if let Some(last) = self.rounds.last() {
            lines.push(Line::heading("Cost in Postgres at this rate (last round)"));
            lines.extend(cost_lines(&last.cost));
        }
        if let Some(drain) = &self.drain {
            lines.push(Line::heading(format!(
                "{} items at full speed",
                drain.items
            )));
            lines.push(Line::fact(
                "submitted",
                format!("{:.0}/s", drain.submitted_rate),
            ));
            lines.push(Line::fact(
                "submit to webhook received",
                format!("{:.0}/s", drain.whole_rate),
            ));
            lines.extend(cost_lines(&drain.cost));
        }
        lines
    }
}
