//! The report.

use std::fmt;

use super::{
    Compared, Entry, Measured,
    case::{Contestant, Outcome},
    system::System,
};
use crate::{
    latency::median,
    report::{Line, Report},
};

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.system, self.lanes) {
            (System::Gatehouse, 1) => write!(f, "Gatehouse, 1 lane"),
            (System::Gatehouse, lanes) => write!(f, "Gatehouse, {lanes} lanes"),
            (system, _) => f.write_str(system.name()),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JobsPerSecond(rate) => write!(f, "{rate:.0}/s"),
            Self::Waits { waits, bare: None } => waits.fmt(f),
            Self::Waits {
                waits,
                bare: Some(bare),
            } => write!(
                f,
                "{waits}; bare SQL round trip p50 {:.2} ms, p99 {:.2} ms",
                bare.p50_ms, bare.p99_ms
            ),
        }
    }
}

impl Entry {
    /// The median over the rounds of what a function takes from them.
    fn median(&self, figure: impl Fn(&Outcome) -> Option<f64>) -> Option<f64> {
        let figures: Vec<f64> = self.rounds.iter().filter_map(figure).collect();
        (!figures.is_empty()).then(|| median(figures))
    }

    fn rate(&self) -> Option<f64> {
        self.median(|outcome| match outcome {
            Outcome::JobsPerSecond(rate) => Some(*rate),
            Outcome::Waits { .. } => None,
        })
    }

    fn value(&self) -> String {
        if let Some(rate) = self.rate() {
            let rounds: Vec<String> = self.rounds.iter().map(ToString::to_string).collect();
            return format!("{rate:>9.0}/s   rounds: {}", rounds.join(", "));
        }
        let of = |figure: fn(&Outcome) -> Option<f64>| self.median(figure).unwrap_or(f64::NAN);
        let (p50, p99) = (of(p50), of(p99));
        let bare = match (self.median(bare_p50), self.median(bare_p99)) {
            (Some(p50), Some(p99)) => {
                format!("   bare SQL round trip: p50 {p50:.2} ms, p99 {p99:.2} ms")
            }
            _ => String::new(),
        };
        format!("p50 {p50:>8.2} ms, p99 {p99:>8.2} ms{bare}")
    }
}

fn p50(outcome: &Outcome) -> Option<f64> {
    match outcome {
        Outcome::Waits { waits, .. } => Some(waits.p50_ms),
        Outcome::JobsPerSecond(_) => None,
    }
}

fn p99(outcome: &Outcome) -> Option<f64> {
    match outcome {
        Outcome::Waits { waits, .. } => Some(waits.p99_ms),
        Outcome::JobsPerSecond(_) => None,
    }
}

fn bare_p50(outcome: &Outcome) -> Option<f64> {
    match outcome {
        Outcome::Waits { bare, .. } => bare.map(|bare| bare.p50_ms),
        Outcome::JobsPerSecond(_) => None,
    }
}

fn bare_p99(outcome: &Outcome) -> Option<f64> {
    match outcome {
        Outcome::Waits { bare, .. } => bare.map(|bare| bare.p99_ms),
        Outcome::JobsPerSecond(_) => None,
    }
}

impl Measured {
    fn lines(&self) -> Vec<Line> {
        let entries = self.entries.iter();
        let mut lines: Vec<Line> = entries
            .clone()
            .map(|entry| Line::fact(entry.contestant.to_string(), entry.value()))
            .collect();
        let rate_of = |wanted: fn(System) -> bool| {
            entries
                .clone()
                .filter(move |entry| wanted(entry.contestant.system))
                .filter_map(Entry::rate)
                .reduce(f64::max)
        };
        let by_hand = rate_of(|system| system == System::ByHand);
        let laneless = rate_of(|system| system == System::ByHandLaneless);
        let best_peer = rate_of(System::is_peer);
        let ours = entries
            .clone()
            .filter(|entry| entry.contestant.system == System::Gatehouse);
        for entry in ours {
            let Some(rate) = entry.rate() else { continue };
            let ratios = [
                ("by hand, bare", by_hand),
                ("by hand, laneless", laneless),
                ("best peer", best_peer),
            ];
            let ratios: Vec<String> = ratios
                .into_iter()
                .filter_map(|(name, other)| Some(format!("{:.2} x {name}", rate / other?)))
                .collect();
            lines.push(Line::fact(
                format!("ratio, {}", entry.contestant),
                ratios.join(", "),
            ));
        }
        lines
    }
}

impl Report for Compared {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("Queues on one Postgres, medians over the rounds"),
            self.machine.line(),
        ];
        for (system, about) in &self.abouts {
            let value = format!("{}: {}", about.version, about.settings);
            lines.push(Line::fact(system.name(), value));
        }
        for measured in &self.cases {
            lines.push(Line::heading(measured.case.title(self.size)));
            lines.extend(measured.lines());
        }
        lines
    }
}
