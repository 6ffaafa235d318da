//! The report.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::row::Row;
use crate::report::{Line, Machine, Report};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct WorkedOff {
    pub(super) machine: Machine,
    pub(super) seed: u64,
    /// How long the provider takes for each text.
    pub(super) provider_ms: u32,
    pub(super) rows: Vec<Measured>,
}

/// What a row achieved, beside the arithmetic.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    pub(super) row: Row,
    /// Between the two counts, by the database's clock.
    pub(super) seconds: f64,
    /// Items that got a verdict meanwhile.
    pub(super) verdicts: u32,
    pub(super) a_second: f64,
    /// By the arithmetic.
    pub(super) most_a_second: f64,
    /// `a_second` divided by `most_a_second`.
    pub(super) ratio: f64,
    /// The most that the provider had.
    pub(super) requests_at_once: u64,
    /// By the arithmetic.
    pub(super) most_requests_at_once: u32,
    /// None if `gatehouse queue status` named nothing.
    pub(super) bound: Option<Bottleneck>,
    /// Items that still had no verdict at the end.
    pub(super) undecided: u32,
}

/// What `gatehouse queue status` says holds jobs back.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Bottleneck {
    by: String,
    /// The share of the last seconds, from 0 to 1.
    share: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} items/s of {:.1} ({:.3}), {} requests at once of {}, ",
            self.a_second,
            self.most_a_second,
            self.ratio,
            self.requests_at_once,
            self.most_requests_at_once
        )?;
        match &self.bound {
            Some(Bottleneck { by, share }) => {
                write!(
                    f,
                    "held back by {by} for {:.0} % of the time",
                    share * 100.0
                )
            }
            None => write!(f, "held back by nothing that is named"),
        }
    }
}

impl Report for WorkedOff {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!(
                "Backlogs at a provider that takes {} ms: verdicts a second, of those by the arithmetic",
                self.provider_ms
            )),
            self.machine.line(),
            Line::fact("seed", self.seed.to_string()),
        ];
        let rows = self.rows.iter();
        lines.extend(
            rows.map(|measured| Line::fact(measured.row.to_string(), measured.to_string())),
        );
        lines
    }
}
