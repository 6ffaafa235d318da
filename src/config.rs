//! The options that commands share, and everything that is read from the environment. Nothing else reads the environment.

mod did_you_mean;
mod egress;
mod environment;
mod http;
mod invalid;
mod known_variables;
mod postgres;
mod providers;
mod sign_on;
mod value_parsers;
mod worker;

use std::{
    ffi::OsString,
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use domain::{key::SiteKey, signature::WebhookSecret};
use queue::QueueName;
use store::jobs;
use url::Url;

use egress::{OutboundOptions, demo_endpoint};
use providers::ProviderOptions;
use value_parsers::http_url;
use worker::WorkOptions;

pub(crate) use egress::{EgressOptions, check_url};
pub(crate) use environment::{problems, read};
pub(crate) use http::HttpOptions;
pub(crate) use invalid::{Invalid, exit_code, invalid};
pub(crate) use known_variables::unknown_variables;
pub(crate) use postgres::{
    AnyDatabaseOptions, Database, DatabaseOptions, Located, PoolOptions, database_hosts,
    master_key, parse_master_key, required_master_key,
};
pub(crate) use sign_on::{ConsoleOptions, DEFAULT_CONSOLE, PublicUrlOptions};
pub(crate) use value_parsers::{address, id, one_of, queue_name, service_url, time, whole};
pub(crate) use worker::{RuleOptions, StoredRulesOptions};

/// Where the HTTP interface listens.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ListenOptions {
    /// Address of the HTTP interface
    #[arg(long, env = "GATEHOUSE_LISTEN", default_value = "127.0.0.1:8080", value_parser = address)]
    pub(crate) listen: SocketAddr,
}

/// Where metrics and health are.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MetricsOptions {
    /// Address of /metrics, /healthz and /readyz
    #[arg(
        long,
        env = "GATEHOUSE_METRICS_LISTEN",
        default_value = "127.0.0.1:9464",
        value_parser = address
    )]
    pub(crate) metrics_listen: SocketAddr,
}

/// Where this binary is. It starts itself to decode images.
pub(crate) fn own_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find out where this program is")
}

/// The socket on which systemd wants to hear when the process is ready: `NOTIFY_SOCKET`. Systemd sets it.
pub(crate) fn notify_socket() -> Option<OsString> {
    std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty())
}

/// `GATEHOUSE_WEBHOOK_SECRET`, if it is set. `gatehouse listen` verifies with it.
pub(crate) fn webhook_secret() -> anyhow::Result<Option<WebhookSecret>> {
    let secret = variable("GATEHOUSE_WEBHOOK_SECRET")?.map(|text| text.parse());
    secret.transpose().context(invalid!(
        "the webhook secret in GATEHOUSE_WEBHOOK_SECRET is unusable"
    ))
}

/// `GATEHOUSE_SITE_KEY`, if it is set. `gatehouse thresholds` asks with it.
pub(crate) fn site_key() -> anyhow::Result<Option<SiteKey>> {
    let key = variable("GATEHOUSE_SITE_KEY")?.map(|text| text.trim().parse());
    // The parser's message may have parts of the key.
    key.transpose()
        .map_err(|_| anyhow::anyhow!("GATEHOUSE_SITE_KEY has no site key: one begins with site_"))
}

/// The key to a service of others that this variable has, if it is set.
pub(crate) fn foreign_key(name: &str) -> anyhow::Result<Option<String>> {
    let key = variable(name)?.map(|key| key.trim().to_owned());
    let is_key = |key: &String| !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic());
    ensure!(
        key.as_ref().is_none_or(is_key),
        "{name} has no key: it is empty, or has characters that no key has"
    );
    Ok(key)
}

/// The data directory of a command that has no option for it: `GATEHOUSE_DATA_DIR`, or the default.
/// `None` without a home directory.
pub(crate) fn data_dir() -> anyhow::Result<Option<PathBuf>> {
    Ok(match variable("GATEHOUSE_DATA_DIR")? {
        Some(directory) => Some(directory.into()),
        None => default_data_dir().ok(),
    })
}

/// The default data directory's base, from `XDG_DATA_HOME` and `HOME`.
pub(crate) fn default_data_dir() -> anyhow::Result<PathBuf> {
    let path = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    crate::data_dir::default_path(path("XDG_DATA_HOME").as_deref(), path("HOME").as_deref())
        .context(invalid!(
            "neither HOME nor XDG_DATA_HOME is set; name a directory with --data-dir"
        ))
}

/// A variable, if it is set. Secrets are not options: other users could read them in the list of processes. If the name begins
/// with `GATEHOUSE_`, `known` must list it.
fn variable(name: &str) -> anyhow::Result<Option<String>> {
    match std::env::var(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!(invalid!("{name} is not valid UTF-8")),
    }
}

/// The text of a file with one value, such as a key. Some editors begin a file with a byte order mark, which nobody sees.
fn read_value(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Human,
    /// For log collectors.
    Json,
}

/// `GATEHOUSE_LOG_FORMAT`, if it is set.
pub(crate) fn log_format() -> anyhow::Result<Option<LogFormat>> {
    match variable("GATEHOUSE_LOG_FORMAT")?.as_deref() {
        None => Ok(None),
        Some("human") => Ok(Some(LogFormat::Human)),
        Some("json") => Ok(Some(LogFormat::Json)),
        Some(other) => bail!(invalid!(
            "GATEHOUSE_LOG_FORMAT is {other:?}; it must be human or json"
        )),
    }
}

/// `GATEHOUSE_LOG`, a tracing filter such as `info` or `warn,gatehouse=debug`.
pub(crate) fn log_filter() -> anyhow::Result<Option<String>> {
    variable("GATEHOUSE_LOG")
}

/// Where the spans of traces go, and of how many traces.
#[derive(Debug, Args)]
pub(crate) struct OtlpOptions {
    /// Address of an OpenTelemetry collector that takes OTLP over HTTP, such as <http://collector:4318>. Spans are sent to
    /// /v1/traces below it. Without it, none are made
    #[arg(long, env = "GATEHOUSE_OTLP_ENDPOINT", hide_env_values = true, value_parser = http_url)]
    pub(crate) otlp_endpoint: Option<Url>,
    /// Share of the traces that begin here whose spans are sent: 0 to 1. A caller's `traceparent` decides about its own trace
    #[arg(long, env = "GATEHOUSE_OTLP_SAMPLE", default_value_t = 1.0, value_parser = share)]
    pub(crate) otlp_sample: f64,
}

fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1, such as 0.01".to_owned())
}

/// Options of `gatehouse up`.
#[derive(Debug, Args)]
pub(crate) struct UpOptions {
    /// Directory of the private database, its keys and demo.json [default: /var/lib/gatehouse as root, else gatehouse in
    /// the XDG data directory]
    #[arg(long, env = "GATEHOUSE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The account to run as when root starts `up`. It gives up root's rights for good when the listeners are bound
    /// [default: gatehouse]
    #[arg(long, env = "GATEHOUSE_USER")]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) listen: ListenOptions,
    #[command(flatten)]
    pub(crate) http: HttpOptions,
    #[command(flatten)]
    pub(crate) console: ConsoleOptions,
    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
    #[command(flatten)]
    pub(crate) otlp: OtlpOptions,
    /// Send the demo site's webhooks to this URL. Its host and port are exempt from the egress guard, for the demo team only
    #[arg(long, value_parser = demo_endpoint)]
    pub(crate) webhook_url: Option<Url>,
    /// Create the demo team and site even if the database is not empty
    #[arg(long)]
    pub(crate) demo: bool,
    /// Create the team "Example data" with a week of invented history, to look at in the console. Refused if the database has other
    /// teams than the demo, unless --demo is given, too. `gatehouse admin remove-example-data` removes it
    #[arg(long)]
    pub(crate) demo_data: bool,
    /// Use this Postgres instead of a private one. `DATABASE_URL_FILE` can name a file with the URL instead
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
    #[command(flatten)]
    pub(crate) pool: PoolOptions,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
    #[command(flatten)]
    pub(crate) rules: RuleOptions,
    #[command(flatten)]
    pub(crate) egress: EgressOptions,
    #[command(flatten)]
    pub(crate) outbound: OutboundOptions,
}

/// Options of `gatehouse api`.
#[derive(Debug, Args)]
pub(crate) struct ApiOptions {
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    #[command(flatten)]
    pub(crate) listen: ListenOptions,
    #[command(flatten)]
    pub(crate) http: HttpOptions,
    #[command(flatten)]
    pub(crate) console: ConsoleOptions,
    #[command(flatten)]
    pub(crate) rules: RuleOptions,
    #[command(flatten)]
    pub(crate) egress: EgressOptions,
    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
    #[command(flatten)]
    pub(crate) otlp: OtlpOptions,
}

/// Options of `gatehouse worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerOptions {
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    /// The queues to work on
    #[arg(long, env = "GATEHOUSE_QUEUES", value_delimiter = ',', value_parser = queue_name(),
          default_values_t = jobs::ALL)]
    pub(crate) queues: Vec<QueueName>,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
    #[command(flatten)]
    pub(crate) rules: RuleOptions,
    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
    #[command(flatten)]
    pub(crate) otlp: OtlpOptions,
    #[command(flatten)]
    pub(crate) egress: EgressOptions,
    #[command(flatten)]
    pub(crate) outbound: OutboundOptions,
}

/// Options of `gatehouse check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Also send one test request to each provider, with a harmless text and a small picture. The provider charges it as
    /// usual. Without this option, `check` sends no requests to providers
    #[arg(long)]
    pub(crate) providers_live: bool,
    #[command(flatten)]
    pub(crate) database: AnyDatabaseOptions,
    #[command(flatten)]
    pub(crate) providers: ProviderOptions,
    #[command(flatten)]
    pub(crate) egress: EgressOptions,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_from_0_to_1() {
        assert_eq!(share("0.25"), Ok(0.25));
        assert_eq!((share("0"), share("1")), (Ok(0.0), Ok(1.0)));
        for wrong in ["", "x", "-0.1", "1.1", "NaN", "inf", "10%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
