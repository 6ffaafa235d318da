//! Statistics: what happened at a site, in a team and in the whole installation, by hour.
//!
//! A chain of jobs adds up rows that are only ever added: items, verdicts, attempts of deliveries,
//! and deliveries that were given up. A row knows the transaction that stored it. A slice adds up
//! what the next transactions stored ([`slice`]), and its effect stores the sums together with the
//! number of the transaction up to which everything is counted. So each row is counted exactly once,
//! however late its transaction commits and whatever is killed in between.
//!
//! Submissions write no counters and wait for no lock of the statistics.

mod report;
mod restart;
mod retention;
mod rule_matches;
pub mod slice;
mod totals;

use queue::QueueName;
use uuid::Uuid;

pub use self::{
    report::{Bucket, Report, RuleMatches, Subject, TOP_RULES, report, report_with_before},
    restart::{begin, lag},
    retention::{DAYS, forget_old},
    rule_matches::{GroupMatches, of_group},
    totals::{Figures, Outcomes},
};
use crate::{
    chain::Chain,
    jobs::{self, StatisticsJob},
};

/// The chain. It begins every minute, and ends when everything is counted.
#[derive(Clone, Copy, Debug)]
pub struct Statistics;

/// The chain's only row.
const ROW: Uuid = Uuid::nil();

impl Chain for Statistics {
    const TABLE: &'static str = "statistics_progress";
    const PLACE: &'static str = "steps";
    const QUEUE: QueueName = jobs::STATISTICS;
    /// How many slices were done.
    type Place = i64;
    type Job = StatisticsJob;

    fn row(_: &StatisticsJob) -> Uuid {
        ROW
    }
}
