//! The results of a round, and of several rounds.

use serde::Serialize;

use super::resources::Resources;
use crate::{
    latency::{Percentiles, median},
    postgres_cost::Cost,
    report::Machine,
};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Flowed {
    pub(super) machine: Machine,
    pub(super) seed: u64,
    pub(super) rate: f64,
    /// The percentage of the items that a rule sends to a person, if it was asked for.
    pub(super) reviews_percent: Option<u64>,
    pub(super) processes: String,
    pub(super) measured: Measured,
    pub(super) beside: Option<Measured>,
    pub(super) ratios: Option<Ratios>,
}

/// The results of one binary: the medians, and their rounds.
#[derive(Debug, Default, Serialize)]
pub(super) struct Measured {
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) statements_per_item: f64,
    pub(super) claims_per_item: f64,
    /// Items a second at full speed.
    pub(super) full_speed: Option<f64>,
    pub(super) rounds: Vec<Round>,
}

/// Medians over the rounds of the ratio between the two binaries in the same round.
#[derive(Debug, Serialize)]
pub(super) struct Ratios {
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) full_speed: Option<f64>,
    /// Of the processor time of an item in all processes, at full speed.
    pub(super) processor_time: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Round {
    /// From the time a submission was due to the webhook's arrival.
    pub(super) whole_way: Percentiles,
    /// From the time a submission was due to its answer.
    pub(super) submission: Percentiles,
    /// `/healthz` of the same server at the same rate.
    pub(super) bare_http: Percentiles,
    /// `select 1` in the same Postgres at the same rate.
    pub(super) bare_sql: Percentiles,
    pub(super) cost: Cost,
    pub(super) drain: Option<Drain>,
}

#[derive(Debug, Serialize)]
pub(super) struct Drain {
    pub(super) items: u64,
    /// How many of them wait for a person.
    pub(super) reviews: i64,
    /// Answers a second while submitting.
    pub(super) submitted_rate: f64,
    /// Items a second from the first submission to the last webhook.
    pub(super) whole_rate: f64,
    pub(super) cost: Cost,
    pub(super) resources: Resources,
}

impl Round {
    fn full_speed(&self) -> Option<f64> {
        self.drain.as_ref().map(|drain| drain.whole_rate)
    }

    /// In microseconds for each item.
    fn processor_time(&self) -> Option<f64> {
        self.drain.as_ref().map(|drain| drain.resources.total_us())
    }

    pub(super) fn summary(&self) -> String {
        let full_speed = self.full_speed().map(|rate| format!("; {rate:.0} items/s"));
        format!("{}{}", self.whole_way, full_speed.unwrap_or_default())
    }
}

impl Measured {
    pub(super) fn of(rounds: Vec<Round>) -> Self {
        let full_speed: Vec<f64> = rounds.iter().filter_map(Round::full_speed).collect();
        Self {
            p50_ms: median(rounds.iter().map(|round| round.whole_way.p50_ms)),
            p99_ms: median(rounds.iter().map(|round| round.whole_way.p99_ms)),
            statements_per_item: median(rounds.iter().map(|r| r.cost.statements_per_item)),
            claims_per_item: median(rounds.iter().map(|r| r.cost.claims_per_item)),
            full_speed: (!full_speed.is_empty()).then(|| median(full_speed)),
            rounds,
        }
    }
}

impl Ratios {
    pub(super) fn of(one: &Measured, other: &Measured) -> Self {
        let pairs = || one.rounds.iter().zip(&other.rounds);
        let speeds: Vec<f64> = pairs()
            .filter_map(|(one, other)| Some(one.full_speed()? / other.full_speed()?))
            .collect();
        let times: Vec<f64> = pairs()
            .filter_map(|(one, other)| Some(one.processor_time()? / other.processor_time()?))
            .collect();
        Self {
            p50: median(pairs().map(|(one, other)| one.whole_way.p50_ms / other.whole_way.p50_ms)),
            p99: median(pairs().map(|(one, other)| one.whole_way.p99_ms / other.whole_way.p99_ms)),
            full_speed: (!speeds.is_empty()).then(|| median(speeds)),
            processor_time: (!times.is_empty()).then(|| median(times)),
        }
    }
}
