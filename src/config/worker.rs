//! How much a worker does at once, and with which providers.

use std::time::Duration;

use clap::Args;
use store::jobs;

use super::{
    animations::AnimationOptions, providers::ProviderOptions, rules::KeptRulesOptions,
    value_parsers::whole,
};

/// How much a process does at once, and with which providers.
#[derive(Debug, Args)]
pub(crate) struct WorkOptions {
    /// Jobs of each queue that run at the same time
    #[arg(long, env = "GATEHOUSE_CONCURRENCY", default_value_t = 64, value_parser = whole(1..=10_000_u16))]
    pub(crate) concurrency: u16,
    /// Seconds without a heartbeat after which other processes take over this process's jobs
    #[arg(long, env = "GATEHOUSE_LEASE_SECONDS", default_value_t = 30, value_parser = whole(1..=86_400_u64))]
    pub(crate) lease_seconds: u64,
    /// Seconds that running jobs get after a shutdown began
    #[arg(long, env = "GATEHOUSE_GRACE_SECONDS", default_value_t = 20, value_parser = whole(0..=86_400_u64))]
    pub(crate) grace_seconds: u64,
    /// Seconds that an item waits, from its acceptance, for providers that limit requests or keep failing. After that, its
    /// site's `on_failure` decides
    #[arg(long, env = "GATEHOUSE_ANALYSIS_PATIENCE_SECONDS", default_value_t = 3_600, value_parser = whole(0..=86_400_u64))]
    pub(crate) analysis_patience_seconds: u64,
    /// Answers of providers that are kept per team for equal texts, for sites that want this. 0 turns the cache off
    #[arg(long, env = "GATEHOUSE_ANSWER_CACHE_ENTRIES", default_value_t = 10_000, value_parser = whole(0..=1_000_000_u32))]
    pub(crate) answer_cache_entries: u32,
    #[command(flatten)]
    pub(crate) kept_rules: KeptRulesOptions,
    #[command(flatten)]
    pub(crate) animations: AnimationOptions,
    #[command(flatten)]
    pub(crate) providers: ProviderOptions,
}

impl WorkOptions {
    /// The queue of a process that works on jobs. So many connections are for claims.
    pub(crate) fn queue(&self, claim_connections: u32) -> queue::Config {
        let lease = Duration::from_secs(self.lease_seconds);
        let fresh = queue::Config::default();
        queue::Config {
            lease,
            claim_connections,
            heartbeat: fresh.heartbeat.min(lease / 4),
            sweep: fresh.sweep.min(lease / 2),
            queues: &jobs::ALL,
            lane_caps: &jobs::LANE_CAPS,
            ..fresh
        }
    }

    pub(crate) fn grace(&self) -> Duration {
        Duration::from_secs(self.grace_seconds)
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.analysis_patience_seconds)
    }
}
