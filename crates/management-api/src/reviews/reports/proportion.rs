//! Shares in the reports, with their uncertainty.

use api_common::Schema;
use domain::proportion::Proportion;
use serde::Serialize;

/// So many of so many, and how certain the share is.
#[derive(Serialize, Schema)]
pub(super) struct ReviewProportion {
    /// How many.
    count: u64,
    /// Of how many.
    of: u64,
    /// The share, from 0 to 1. `null` of nothing.
    #[schema(nullable)]
    share: Option<f64>,
    /// The lower end of the Wilson interval of 95 %.
    #[schema(nullable)]
    low: Option<f64>,
    /// The upper end.
    #[schema(nullable)]
    high: Option<f64>,
}

impl From<Proportion> for ReviewProportion {
    fn from(proportion: Proportion) -> Self {
        let interval = proportion.wilson();
        Self {
            count: proportion.hits,
            of: proportion.of,
            share: proportion.share(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    }
}
