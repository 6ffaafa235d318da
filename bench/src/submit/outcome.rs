//! The results of a run.

use serde::Serialize;

use super::Bodies;
use crate::{
    latency::{Medians, Percentiles},
    meter::Cost,
    pgbench::Measured,
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
    pub(super) latency: Percentiles,
    pub(super) cost: Cost,
    pub(super) ceiling_rate: f64,
}
