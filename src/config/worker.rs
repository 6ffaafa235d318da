//! How much a worker does at once, and with which providers.

use std::time::Duration;

use clap::Args;
use domain::rules::Limits;
use store::jobs;
use workers::RuleSettings;

use super::{providers::ProviderOptions, value_parsers::whole};

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

/// The bounds of animations.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct AnimationOptions {
    /// Frames of an animated GIF, WebP or PNG that are sent to providers: the first, the last, and evenly spaced ones between.
    /// Each frame is a request
    #[arg(long, env = "GATEHOUSE_ANIMATION_FRAMES", default_value_t = 5, value_parser = whole(1..=20_u32))]
    animation_frames: u32,
    /// Millions of pixels that are decoded of one animation, over all its frames. The rest is not checked, and the site's
    /// `on_failure` decides
    #[arg(long, env = "GATEHOUSE_ANIMATION_MEGAPIXELS", default_value_t = 500, value_parser = whole(10..=10_000_u32))]
    animation_megapixels: u32,
}

impl AnimationOptions {
    pub(crate) fn settings(self) -> picture::AnimationSettings {
        picture::AnimationSettings {
            frames: self.animation_frames as usize,
            pixels: u64::from(self.animation_megapixels) * 1_000_000,
        }
    }
}

/// The limits of one rule group. The API and the workers need the same ones.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RuleOptions {
    /// Memory that one compiled rule group may need, in MiB. Larger groups are refused and judge nothing
    #[arg(long, env = "GATEHOUSE_RULE_GROUP_MEMORY_MIB", default_value_t = 64, value_parser = whole(4..=4_096_u32))]
    rule_group_memory_mib: u32,
    /// CPU time that compiling one rule group may take, in seconds. Workers allow ten times as much
    #[arg(long, env = "GATEHOUSE_RULE_GROUP_COMPILE_SECONDS", default_value_t = 2, value_parser = whole(1..=600_u64))]
    rule_group_compile_seconds: u64,
}

impl RuleOptions {
    pub(crate) fn limits(self) -> Limits {
        Limits {
            bytes: (self.rule_group_memory_mib as usize) << 20,
            time: Duration::from_secs(self.rule_group_compile_seconds),
        }
    }

    pub(crate) fn settings(self, kept: KeptRulesOptions) -> RuleSettings {
        RuleSettings {
            limits: self.limits(),
            kept_bytes: (kept.rule_memory_mib as usize) << 20,
        }
    }
}

/// How many rules can be stored.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct StoredRulesOptions {
    /// Rules that a team may store within 24 hours, in versions and backtests together, in MiB
    #[arg(long, env = "GATEHOUSE_RULES_MIB_PER_DAY", default_value_t = 256, value_parser = whole(1..=1_048_576_u32))]
    rules_mib_per_day: u32,
}

impl StoredRulesOptions {
    /// How many bytes of rules a team can store within 24 hours.
    pub(crate) fn per_day(self) -> u64 {
        u64::from(self.rules_mib_per_day) << 20
    }
}

/// How many compiled rule groups a worker keeps.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct KeptRulesOptions {
    /// Memory for compiled rule groups that a worker keeps, in MiB. Groups of the teams that use the most are dropped first
    #[arg(long, env = "GATEHOUSE_RULE_MEMORY_MIB", default_value_t = 128, value_parser = whole(8..=65_536_u32))]
    rule_memory_mib: u32,
}
