//! The results of a run.

use serde::Serialize;

use super::Bodies;
use crate::{
    latency::{Medians, Percentiles, median},
    pgbench::Measured,
    postgres_cost::Cost,
    report::Machine,
};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Submitted {
    pub(super) machine: Machine,
    pub(super) seed: u64,
    pub(super) sites: usize,
    pub(super) bodies: Bodies,
    pub(super) mean_body_bytes: usize,
    pub(super) idempotency_keys: bool,
    pub(super) connections: usize,
    /// pgbench at each client count; the best one is used in the rounds.
    pub(super) search: Vec<Measured>,
    pub(super) rounds: Vec<Round>,
    /// Medians over the rounds.
    pub(super) gatehouse_rate: f64,
    pub(super) latency: Medians,
    pub(super) pgbench_rate: f64,
    /// The one rate divided by the other.
    pub(super) ratio: f64,
    pub(super) beside: Option<Beside>,
    /// Answers a second of the same server without a database.
    pub(super) ceiling_rate: f64,
    /// The rate divided by that.
    pub(super) ceiling_share: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Round {
    pub(super) pgbench: Measured,
    pub(super) pgbench_wal_bytes_per_item: f64,
    pub(super) gatehouse_rate: f64,
    /// Of the other binary.
    pub(super) beside_rate: Option<f64>,
    pub(super) latency: Percentiles,
    pub(super) cost: Cost,
    pub(super) ceiling_rate: f64,
}

/// Another binary on the same Postgres.
#[derive(Debug, Serialize)]
pub(super) struct Beside {
    /// The median over the rounds.
    pub(super) rate: f64,
    /// How many times as fast this binary is in the same round: the median, the least and the most.
    pub(super) ratio: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Beside {
    /// `None` if there is no other binary.
    pub(super) fn of(rounds: &[Round]) -> Option<Self> {
        let rates: Option<Vec<_>> = rounds.iter().map(|round| round.beside_rate).collect();
        let rates = rates.filter(|rates| !rates.is_empty())?;
        let ratios: Vec<_> = rounds
            .iter()
            .zip(&rates)
            .map(|(round, rate)| round.gatehouse_rate / rate)
            .collect();
        Some(Self {
            rate: median(rates.iter().copied()),
            ratio: median(ratios.iter().copied()),
            least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            most: ratios.iter().copied().fold(0.0, f64::max),
        })
    }
}
