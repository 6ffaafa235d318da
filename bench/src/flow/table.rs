//! The report.

use super::{Flowed, Measured, Ratios};
use crate::report::{Line, Report, cost_lines};

/// The most that the desk may add to what an item costs, if a share of the items goes to people: see `--reviews-percent`.
const MOST: f64 = 1.05;

impl Report for Flowed {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!("The whole way at {} items a second", self.rate)),
            self.machine.line(),
            Line::fact("processes", self.processes.clone()),
            Line::fact("seed", self.seed.to_string()),
        ];
        if let Some(percent) = self.reviews_percent {
            lines.push(Line::fact(
                "items that go to people",
                format!("{percent} %"),
            ));
        }
        lines.extend(self.measured.lines());
        if let Some(beside) = &self.beside {
            lines.push(Line::heading("The binary beside"));
            lines.extend(beside.lines());
        }
        lines.extend(self.ratios.iter().flat_map(Ratios::lines));
        if let Some(times) = self.added() {
            let verdict = if times <= MOST { "met" } else { "missed" };
            lines.push(Line::fact(
                "cost of an item with reviews",
                format!("{times:.3} (at most {MOST}: {verdict})"),
            ));
        }
        lines
    }

    /// Whether reviews cost no more than they may, if that was asked.
    fn holds(&self) -> bool {
        self.added().is_none_or(|times| times <= MOST)
    }
}

impl Flowed {
    /// How many times as much processor time an item takes as with the binary beside, if a share of the items goes to people.
    fn added(&self) -> Option<f64> {
        self.reviews_percent?;
        self.ratios.as_ref()?.processor_time
    }
}

impl Measured {
    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (number, round) in self.rounds.iter().enumerate() {
            lines.push(Line::heading(format!("Round {}", number + 1)));
            for (name, percentiles) in [
                ("submit to webhook received", &round.whole_way),
                ("submit to answer", &round.submission),
                ("bare HTTP round trip", &round.bare_http),
                ("bare SQL round trip", &round.bare_sql),
            ] {
                lines.push(Line::fact(name, percentiles.to_string()));
            }
            if let Some(drain) = &round.drain {
                let speed = format!(
                    "{:.0} items/s, submitted at {:.0}/s",
                    drain.whole_rate, drain.submitted_rate
                );
                lines.push(Line::fact("at full speed", speed));
                lines.push(Line::fact(
                    "items that wait for people",
                    format!("{} of {}", drain.reviews, drain.items),
                ));
            }
        }
        lines.push(Line::heading("Medians over the rounds"));
        lines.push(Line::fact(
            "submit to webhook received",
            format!("p50 {:.2} ms, p99 {:.2} ms", self.p50_ms, self.p99_ms),
        ));
        lines.push(Line::fact(
            "SQL statements per item",
            format!("{:.2}", self.statements_per_item),
        ));
        lines.push(Line::fact(
            "claims per item",
            format!("{:.2}", self.claims_per_item),
        ));
        if let Some(rate) = self.full_speed {
            lines.push(Line::fact("at full speed", format!("{rate:.0} items/s")));
        }
        if let Some(last) = self.rounds.last() {
            lines.push(Line::heading("Cost in Postgres at this rate (last round)"));
            lines.extend(cost_lines(&last.cost));
            if let Some(drain) = &last.drain {
                lines.push(Line::heading("Cost in Postgres at full speed (last round)"));
                lines.extend(cost_lines(&drain.cost));
                lines.extend(drain.resources.lines());
            }
        }
        lines
    }
}

impl Ratios {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("This binary divided by the one beside, medians over the rounds"),
            Line::fact("p50", format!("{:.2}", self.p50)),
            Line::fact("p99", format!("{:.2}", self.p99)),
        ];
        if let Some(ratio) = self.full_speed {
            lines.push(Line::fact("items at full speed", format!("{ratio:.3}")));
        }
        if let Some(ratio) = self.processor_time {
            lines.push(Line::fact("processor time per item", format!("{ratio:.3}")));
        }
        lines
    }
}
