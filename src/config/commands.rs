//! The options of `up`, `api`, `worker` and `check`.

use std::path::PathBuf;

use clap::Args;
use queue::QueueName;
use store::jobs;
use url::Url;

use super::{
    ListenOptions, MetricsOptions,
    console::ConsoleOptions,
    egress::{EgressOptions, OutboundOptions, demo_endpoint},
    http::HttpOptions,
    otlp::OtlpOptions,
    postgres::{AnyDatabaseOptions, DatabaseOptions, PoolOptions},
    providers::ProviderOptions,
    rules::RuleOptions,
    value_parsers::queue_name,
    worker::WorkOptions,
};

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
