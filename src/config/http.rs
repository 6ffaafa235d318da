//! The bounds that keep slow, greedy and hostile clients from harming others.

use std::time::Duration;

use clap::Args;
use fair_share::Proxies;
use http_server::{BodySettings, RefusalSettings, serve};
use ipnet::IpNet;
use management::RateLimitSettings;
use store::{accept::AcceptSettings, gather::Bounds, retention::Retention};

use super::{
    value_parsers::{network, whole},
    worker::StoredRulesOptions,
};

/// Bounds of the HTTP interface.
#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// Addresses or networks of the proxies in front of Gatehouse, separated by commas. A proxy sends the requests of many
    /// clients, so the limits per address do not apply to it
    #[arg(long, env = "GATEHOUSE_PROXIES", value_delimiter = ',', value_parser = network)]
    proxies: Vec<IpNet>,
    /// Open connections. One address may use at most as many as remain free
    #[arg(long, env = "GATEHOUSE_CONNECTIONS", default_value_t = 10_000, value_parser = whole(2..=1_000_000_u32))]
    connections: u32,
    /// Seconds within which a request's head must arrive
    #[arg(long, env = "GATEHOUSE_HEAD_SECONDS", default_value_t = 5, value_parser = seconds())]
    head_seconds: u64,
    /// Seconds that a connection may stay open between two requests
    #[arg(long, env = "GATEHOUSE_IDLE_SECONDS", default_value_t = 75, value_parser = seconds())]
    idle_seconds: u64,
    /// Seconds within which a request's body must arrive
    #[arg(long, env = "GATEHOUSE_BODY_SECONDS", default_value_t = 30, value_parser = seconds())]
    body_seconds: u64,
    /// Bytes of a body that must arrive per second on average, after the first ten seconds
    #[arg(
        long,
        env = "GATEHOUSE_BODY_BYTES_PER_SECOND",
        default_value_t = 16_384,
        value_parser = whole(0..=u32::MAX)
    )]
    body_bytes_per_second: u32,
    /// Memory for all bodies over 16 KiB together, in MiB. One address may use at most as much as remains free
    #[arg(long, env = "GATEHOUSE_BODY_MEMORY_MIB", default_value_t = 256, value_parser = whole(32..=65_536_u32))]
    body_memory_mib: u32,
    /// Seconds that a whole request may take, including its body
    #[arg(long, env = "GATEHOUSE_REQUEST_SECONDS", default_value_t = 60, value_parser = seconds())]
    request_seconds: u64,
    /// Seconds that a client has to read an answer
    #[arg(long, env = "GATEHOUSE_ANSWER_SECONDS", default_value_t = 30, value_parser = seconds())]
    answer_seconds: u64,
    /// Submissions that can wait to be stored
    #[arg(long, env = "GATEHOUSE_WAITING_SUBMISSIONS", default_value_t = 4_096, value_parser = whole(1..=1_000_000_u32))]
    waiting_submissions: u32,
    /// Memory for inline images that wait to be stored, in MiB
    #[arg(long, env = "GATEHOUSE_WAITING_IMAGES_MIB", default_value_t = 256, value_parser = whole(16..=65_536_u32))]
    waiting_images_mib: u32,
    /// Requests of one management token per minute, in each process
    #[arg(long, env = "GATEHOUSE_MANAGEMENT_REQUESTS_PER_TOKEN", default_value_t = 600, value_parser = requests())]
    management_requests_per_token: u32,
    /// Requests of all management tokens of one team per minute, in each process
    #[arg(long, env = "GATEHOUSE_MANAGEMENT_REQUESTS_PER_TEAM", default_value_t = 1_200, value_parser = requests())]
    management_requests_per_team: u32,
    /// Requests to the management interface from one address per minute, in each process
    #[arg(long, env = "GATEHOUSE_MANAGEMENT_REQUESTS_PER_ADDRESS", default_value_t = 2_400, value_parser = requests())]
    management_requests_per_address: u32,
    /// Answers with status 400 to 499 to one address per second, in each process. Twice as many can be sent at once; further
    /// ones are delayed by up to 2 s
    #[arg(long, env = "GATEHOUSE_REFUSALS_PER_SECOND", default_value_t = 100, value_parser = requests())]
    refusals_per_second: u32,
    /// Seconds during which connections are still accepted after a signal to stop, for load balancers to notice. Meanwhile
    /// `/readyz` answers 503 and answers have `Connection: close` [default: 5, and 0 for `up`]
    #[arg(long, alias = "linger-seconds", env = "GATEHOUSE_DRAIN_SECONDS", value_parser = whole(0..=600_u64))]
    drain_seconds: Option<u64>,
    /// Seconds that a submission waits for Postgres to come back
    #[arg(long, env = "GATEHOUSE_OUTAGE_SECONDS", default_value_t = 10, value_parser = seconds())]
    outage_seconds: u64,
    #[command(flatten)]
    retention: RetentionOptions,
    #[command(flatten)]
    stored_rules: StoredRulesOptions,
}

fn seconds() -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync {
    whole(1..=3_600_u64)
}

fn requests() -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync {
    whole(1..=1_000_000_u32)
}

impl HttpOptions {
    /// The bounds of connections, at most `connections` of them. `drain` is the default of how
    /// long connections are accepted after a signal to stop.
    pub(crate) fn serve(&self, connections: usize, drain: Duration) -> serve::Settings {
        serve::Settings {
            head: Duration::from_secs(self.head_seconds),
            idle: Duration::from_secs(self.idle_seconds),
            answer: Duration::from_secs(self.answer_seconds),
            connections,
            proxies: self.proxies(),
            drain: self.drain_seconds.map_or(drain, Duration::from_secs),
            ..serve::Settings::default()
        }
    }

    /// How many connections the operator allows.
    pub(crate) fn connections(&self) -> usize {
        self.connections as usize
    }

    /// The bounds of bodies.
    pub(crate) fn body(&self) -> BodySettings {
        BodySettings {
            deadline: Duration::from_secs(self.body_seconds),
            bytes_per_second: self.body_bytes_per_second,
            budget_bytes: (self.body_memory_mib as usize) << 20,
            proxies: self.proxies(),
            ..BodySettings::default()
        }
    }

    /// How quickly refusals are answered.
    pub(crate) fn refusals(&self) -> RefusalSettings {
        RefusalSettings {
            per_second: self.refusals_per_second,
            proxies: self.proxies(),
        }
    }

    /// How many requests the management interface takes in a minute.
    pub(crate) fn pace(&self) -> RateLimitSettings {
        RateLimitSettings {
            per_token: self.management_requests_per_token,
            per_team: self.management_requests_per_team,
            per_address: self.management_requests_per_address,
            proxies: self.proxies(),
            ..RateLimitSettings::default()
        }
    }

    /// The bounds of submissions that wait to be stored.
    pub(crate) fn accept(&self) -> AcceptSettings {
        let fresh = AcceptSettings::default();
        AcceptSettings {
            bounds: Bounds {
                waiting: self.waiting_submissions as usize,
                ..fresh.bounds
            },
            images: Bounds {
                waiting_bytes: (self.waiting_images_mib as usize) << 20,
                ..fresh.images
            },
            patience: Duration::from_secs(self.outage_seconds),
            retention: self.retention.settings(),
        }
    }

    /// How many bytes of rules a team can store within 24 hours.
    pub(crate) fn rules_per_day(&self) -> u64 {
        self.stored_rules.per_day()
    }

    /// How long one request may take.
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_secs(self.request_seconds)
    }

    fn proxies(&self) -> Proxies {
        Proxies::new(self.proxies.iter().copied())
    }
}

/// How long things are kept that belong to no site. Sites have settings of their own.
#[derive(Clone, Copy, Debug, Args)]
#[expect(
    clippy::struct_field_names,
    reason = "each is the name of an option, and says its unit"
)]
struct RetentionOptions {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_an_address_or_a_network() {
        assert_eq!(network("10.0.0.1").unwrap().prefix_len(), 32);
        assert_eq!(network("fd00::/8").unwrap().prefix_len(), 8);
        for wrong in ["", "localhost", "10.0.0.0/33"] {
            assert!(network(wrong).is_err(), "{wrong:?}");
        }
    }
}
