//! The results of a run, and their report.

use serde::Serialize;

use super::{
    Round, Speed,
    timing_test::{Compared, TimingTest},
};
use crate::{
    latency::{Medians, Percentiles, median},
    report::{Line, Machine, Report},
};

/// The most that the p99 of a claim may take.
const CLAIM_P99_MS: f64 = 5.0;
/// The most that the p95 of the next item may take.
const NEXT_ITEM_P95_MS: f64 = 150.0;
/// A difference that is less likely than this is no accident.
const SIGNIFICANT: f64 = 0.01;

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Desked {
    pub(super) machine: Machine,
    pub(super) seed: u64,
    pub(super) reviews: u32,
    pub(super) moderators: u32,
    pub(super) rate: f64,
    pub(super) fill_seconds: f64,
    pub(super) database_bytes: i64,
    pub(super) claimed: usize,
    pub(super) claimed_by_two: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) tells: TimingTest,
}

impl Desked {
    fn medians(&self, part: fn(&Round) -> Percentiles) -> Medians {
        let rounds: Vec<Percentiles> = self.rounds.iter().map(part).collect();
        Medians::of(&rounds)
    }

    fn full_speed(&self, part: fn(&Round) -> Speed) -> String {
        let rate = median(self.rounds.iter().map(|round| part(round).rate));
        let claims: Vec<Percentiles> = self.rounds.iter().map(|round| part(round).claim).collect();
        format!(
            "{}, {rate:.0} claims and decisions a second",
            Medians::of(&claims)
        )
    }

    /// Each goal, with the median that must not exceed it.
    fn goals(&self) -> [(&'static str, f64, f64); 3] {
        [
            (
                "claim in SQL, p99",
                self.medians(|round| round.sql).p99_ms,
                CLAIM_P99_MS,
            ),
            (
                "claim over HTTP, p99",
                self.medians(|round| round.http).p99_ms,
                CLAIM_P99_MS,
            ),
            (
                "next item, p95",
                self.medians(|round| round.next_item).p95_ms,
                NEXT_ITEM_P95_MS,
            ),
        ]
    }
}

impl Report for Desked {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("The review desk"),
            self.machine.line(),
            Line::fact("reviews that wait", self.reviews.to_string()),
            Line::fact(
                "moderators",
                format!(
                    "{}, together {} decisions a second",
                    self.moderators, self.rate
                ),
            ),
            Line::fact(
                "database",
                format!(
                    "{} MiB, filled in {:.0} s",
                    self.database_bytes / 1_048_576,
                    self.fill_seconds
                ),
            ),
            Line::fact("seed", self.seed.to_string()),
        ];
        for (number, round) in self.rounds.iter().enumerate() {
            lines.push(Line::heading(format!("Round {}", number + 1)));
            for (name, percentiles) in [
                ("bare commit", &round.bare_commit),
                ("bare commit beside claims", &round.bare_commit_beside),
                ("claim in SQL", &round.sql),
                ("claim over HTTP", &round.http),
                ("next item in the console", &round.next_item),
                ("claim in SQL at full speed", &round.sql_at_full_speed.claim),
                (
                    "claim over HTTP at full speed",
                    &round.http_at_full_speed.claim,
                ),
            ] {
                lines.push(Line::fact(name, percentiles.to_string()));
            }
        }
        lines.push(Line::heading("Medians over the rounds"));
        for (name, medians) in [
            ("bare commit", self.medians(|round| round.bare_commit)),
            (
                "bare commit beside claims",
                self.medians(|round| round.bare_commit_beside),
            ),
            ("claim in SQL", self.medians(|round| round.sql)),
            ("claim over HTTP", self.medians(|round| round.http)),
            (
                "next item in the console",
                self.medians(|round| round.next_item),
            ),
        ] {
            lines.push(Line::fact(name, medians.to_string()));
        }
        lines.push(Line::fact(
            "claim in SQL at full speed",
            self.full_speed(|round| round.sql_at_full_speed),
        ));
        lines.push(Line::fact(
            "claim over HTTP at full speed",
            self.full_speed(|round| round.http_at_full_speed),
        ));
        lines.push(Line::heading("Goals"));
        for (name, ms, most) in self.goals() {
            let verdict = if ms <= most { "met" } else { "missed" };
            lines.push(Line::fact(
                name,
                format!("{ms:.2} ms (at most {most} ms: {verdict})"),
            ));
        }
        lines.push(Line::fact(
            "reviews that two people got",
            format!("{} of {}", self.claimed_by_two, self.claimed),
        ));
        lines.push(Line::heading("Known answers beside other reviews"));
        lines.push(Line::fact(
            "claim and read",
            self.tells.claim_and_read.to_string(),
        ));
        lines.push(Line::fact("decide", self.tells.decision.to_string()));
        lines
    }

    /// Whether the goals are met, and nobody got what somebody else had. Times of known answers are only shown: one run in a hundred
    /// finds a difference where none is.
    fn holds(&self) -> bool {
        self.claimed_by_two == 0 && self.goals().iter().all(|(_, ms, most)| ms <= most)
    }
}

impl std::fmt::Display for Compared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            each,
            known_ms,
            other_ms,
            p,
        } = self;
        let verdict = if *p < SIGNIFICANT {
            "time tells them apart, unless this was chance: run it again"
        } else {
            "time does not tell them apart"
        };
        write!(
            f,
            "median {known_ms:.3} ms, others {other_ms:.3} ms, {each} each, p = {p:.3} (Mann-Whitney): {verdict}"
        )
    }
}
