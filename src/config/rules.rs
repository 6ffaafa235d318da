//! How much rule groups can cost.

use std::time::Duration;

use clap::Args;
use domain::rules::Limits;
use workers::RuleSettings;

use super::whole;

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
