//! The results of a run, and their report.

use serde::Serialize;

use super::{
    installation::{Described, Round},
    retention::{Expired, most},
};
use crate::{
    latency::{Medians, Percentiles, median},
    report::{Line, Machine, Report},
};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Lived {
    pub(super) machine: Machine,
    pub(super) seed: u64,
    pub(super) days: u32,
    pub(super) rate: f64,
    pub(super) young: Described,
    pub(super) old: Described,
    pub(super) sides: Sides,
    pub(super) expired: Vec<Expired>,
}

/// The rounds of both installations.
#[derive(Debug, Default, Serialize)]
pub(super) struct Sides {
    pub(super) young: Vec<Round>,
    pub(super) old: Vec<Round>,
}

/// A part of a round.
type Part = (&'static str, fn(&Round) -> Percentiles);

const PARTS: [Part; 5] = [
    ("submit", |round| round.submit),
    ("submit to webhook", |round| round.way),
    ("status", |round| round.status),
    ("list of a site", |round| round.list),
    ("claim of a review", |round| round.claim),
];

impl Sides {
    fn line(&self, (name, part): Part) -> Line {
        let percentiles = |rounds: &[Round]| rounds.iter().map(part).collect::<Vec<_>>();
        let (young, old) = (percentiles(&self.young), percentiles(&self.old));
        let ratio = |of: fn(&Percentiles) -> f64| {
            median(
                young
                    .iter()
                    .zip(&old)
                    .map(|(young, old)| of(old) / of(young)),
            )
        };
        let (p50, p99) = (ratio(|one| one.p50_ms), ratio(|one| one.p99_ms));
        let value = format!(
            "{} beside {}: ratios p50 {p50:.2}, p99 {p99:.2}",
            Medians::of(&old),
            Medians::of(&young)
        );
        Line::fact(name, value)
    }
}

impl Lived {
    /// The medians of p99 without and beside removals: submissions, and their whole way.
    fn removals(&self) -> [(&'static str, f64, f64); 2] {
        let of = |p99: fn(&Expired) -> f64| median(self.expired.iter().map(p99));
        [
            (
                "submit, p99 in ms",
                of(|one| one.idle.submit.p99_ms),
                of(|one| one.beside.submit.p99_ms),
            ),
            (
                "submit to webhook, p99 in ms",
                of(|one| one.idle.way.p99_ms),
                of(|one| one.beside.way.p99_ms),
            ),
        ]
    }
}

impl Report for Lived {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("A long life"),
            self.machine.line(),
            Line::fact("seed", self.seed.to_string()),
            Line::fact("days", self.days.to_string()),
        ];
        for Described {
            items,
            database_bytes,
            sizes,
        } in [&self.young, &self.old]
        {
            lines.push(Line::fact(
                format!("{items} items"),
                format!("{} MiB", database_bytes / 1_048_576),
            ));
            lines.extend(sizes.iter().map(|size| {
                Line::fact(
                    format!("  {}, bytes an item", size.table),
                    format!(
                        "{:.0} and {:.0} of indexes",
                        size.table_bytes, size.index_bytes
                    ),
                )
            }));
        }
        lines.push(Line::heading(format!(
            "{} items beside {}, medians over the rounds",
            self.old.items, self.young.items
        )));
        lines.extend(PARTS.map(|part| self.sides.line(part)));
        lines.push(Line::heading(format!(
            "A day's items are removed beside {} submissions a second",
            self.rate
        )));
        for (number, expired) in self.expired.iter().enumerate() {
            lines.push(Line::fact((number + 1).to_string(), expired.to_string()));
        }
        for (name, idle, beside) in self.removals() {
            let most = most(idle);
            let verdict = if beside <= most { "met" } else { "missed" };
            lines.push(Line::fact(
                name,
                format!(
                    "{idle:.2}, beside a removal {beside:.2} (goal: at most {most:.1}: {verdict})"
                ),
            ));
        }
        lines
    }

    fn holds(&self) -> bool {
        self.removals()
            .iter()
            .all(|(_, idle, beside)| *beside <= most(*idle))
    }
}
