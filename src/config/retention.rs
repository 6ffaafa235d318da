//! How long things are kept that belong to no site.

use std::time::Duration;

use clap::Args;
use store::accept::Retention;

use super::value_parsers::whole;

/// How long things are kept that belong to no site. Sites have settings of their own.
#[derive(Clone, Copy, Debug, Args)]
#[expect(
    clippy::struct_field_names,
    reason = "each is the name of an option, and says its unit"
)]
pub(super) struct RetentionOptions {
    /// Days that old versions of rule groups are kept if no item was judged by them
    #[arg(long, env = "GATEHOUSE_UNUSED_VERSION_DAYS", default_value_t = 90, value_parser = whole(1..=3_650_u64))]
    unused_version_days: u64,
    /// Days that the rules of an ended backtest, and the items that it lists, are kept. Its counts are kept for 90 days
    #[arg(long, env = "GATEHOUSE_BACKTEST_DETAIL_DAYS", default_value_t = 30, value_parser = whole(1..=3_650_u64))]
    backtest_detail_days: u64,
    /// Days that entries of the audit log are kept, at least 365 [default: for ever]
    #[arg(long, env = "GATEHOUSE_AUDIT_RETENTION_DAYS", value_parser = whole(365..=36_500_u64))]
    audit_retention_days: Option<u64>,
    /// Days that the usage of a billing period is kept after its end, at least 400 [default: for ever]
    #[arg(long, env = "GATEHOUSE_USAGE_RETENTION_DAYS", value_parser = whole(400..=36_500_u64))]
    usage_retention_days: Option<u64>,
}

impl RetentionOptions {
    pub(super) fn settings(self) -> Retention {
        Retention {
            unused_versions: days(self.unused_version_days),
            backtest_details: days(self.backtest_detail_days),
            audit_log: self.audit_retention_days.map(days),
            usage: self.usage_retention_days.map(days),
        }
    }
}

fn days(number: u64) -> Duration {
    Duration::from_hours(24 * number)
}
