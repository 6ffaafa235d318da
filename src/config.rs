//! Every option and environment variable of every command. Nothing else reads the environment.

mod animations;
mod egress;
mod environment;
mod http;
mod providers;
mod rules;
mod values;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::{Args, Parser, Subcommand, ValueEnum};
use database::PoolSettings;
use domain::signature::WebhookSecret;
use queue::QueueName;
use store::{jobs, seal::MasterKey};
use url::Url;
use workers::outbound::Exemption;

use crate::{
    commands::{admin, listen, queue as queue_command},
    data_dir::{DATABASE_URL, MASTER_KEY},
    demo,
};

pub(crate) use animations::AnimationOptions;
pub(crate) use egress::{EgressOptions, OutboundOptions, judge};
pub(crate) use environment::problems;
pub(crate) use http::HttpOptions;
pub(crate) use providers::ProviderOptions;
pub(crate) use rules::{KeptRulesOptions, RuleOptions, StoredRulesOptions};
pub(crate) use values::{address, id, one_of, queue_name, whole};

use values::demo_endpoint;

/// A self-hosted content moderation service.
#[derive(Debug, Parser)]
#[command(name = "gatehouse", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the binary can be.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything in one process, on a private Postgres unless `DATABASE_URL` is set
    Up(Box<UpOptions>),
    /// Run the HTTP interface
    Api(ApiOptions),
    /// Run workers
    Worker(WorkerOptions),
    /// Bring the database to this binary's schema
    Migrate(DatabaseOptions),
    /// Check the configuration and what it refers to; the exit code tells
    Check(CheckOptions),
    /// Print an OpenAPI document
    Openapi {
        /// Which interface
        #[arg(default_value = "public")]
        document: Document,
    },
    /// Set up teams, sites, keys, endpoints and rules
    Admin(admin::Options),
    /// Look at the queue and act on it: status, dead jobs, replays, pauses
    Queue(queue_command::Options),
    /// Receive webhooks here, verify and print them
    Listen(listen::Args),
}

/// The interfaces that have a document.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Document {
    /// What applications call.
    Public,
    /// What operators and teams call.
    Management,
}

/// Options of `gatehouse up`.
#[derive(Debug, Args)]
pub(crate) struct UpOptions {
    /// Where the database, its keys and demo.json are [default: /var/lib/gatehouse as root, else gatehouse in the XDG
    /// data directory]
    #[arg(long, env = "GATEHOUSE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The account to run as when root starts it: root's rights are given up for good once the listeners are bound
    /// [default: gatehouse]
    #[arg(long, env = "GATEHOUSE_USER")]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) listen: ListenOptions,
    #[command(flatten)]
    pub(crate) http: HttpOptions,
    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
    /// Send the demo site's webhooks to this URL; its host and port are exempt from the egress guard for the demo team
    #[arg(long, value_parser = demo_endpoint)]
    pub(crate) webhook_url: Option<Url>,
    /// Make the demo team and site in a database that is not empty, too
    #[arg(long)]
    pub(crate) demo: bool,
    /// Use this Postgres instead of a private one
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
    pub(crate) rules: RuleOptions,
    #[command(flatten)]
    pub(crate) egress: EgressOptions,
    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
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
    pub(crate) egress: EgressOptions,
    #[command(flatten)]
    pub(crate) outbound: OutboundOptions,
}

/// Options of `gatehouse check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Ask each provider once as well, with a harmless text and a small picture. Each question costs what a request costs with that
    /// provider; without this, `check` asks nobody
    #[arg(long)]
    pub(crate) providers_live: bool,
    #[command(flatten)]
    pub(crate) database: AnyDatabaseOptions,
    #[command(flatten)]
    pub(crate) providers: ProviderOptions,
    #[command(flatten)]
    pub(crate) egress: EgressOptions,
}

/// Where Postgres is.
#[derive(Debug, Args)]
pub(crate) struct DatabaseOptions {
    /// Postgres, as postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: String,
    #[command(flatten)]
    pub(crate) pool: PoolOptions,
}

/// Where the database is that a command looks at or sets up.
#[derive(Debug, Args)]
pub(crate) struct AnyDatabaseOptions {
    /// Postgres, as postgres://user:password@host:port/database; without, the private one of `gatehouse up`
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, global = true)]
    database_url: Option<String>,
    /// The data directory of that `gatehouse up` [default: the same as its]
    #[arg(long, env = "GATEHOUSE_DATA_DIR", global = true)]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    pool: PoolOptions,
}

/// A database that a command found.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) database: DatabaseOptions,
    /// The data directory that it is in, if it is private.
    data_dir: Option<PathBuf>,
}

impl AnyDatabaseOptions {
    /// The operator's database, or the one in the data directory.
    ///
    /// # Errors
    /// There is neither.
    pub(crate) fn locate(self) -> anyhow::Result<Located> {
        let (database_url, data_dir) = if let Some(url) = self.database_url {
            (url, None)
        } else {
            let directory = match self.data_dir {
                Some(directory) => directory,
                None => default_data_dir()?,
            };
            let file = directory.join(DATABASE_URL);
            let url = std::fs::read_to_string(&file).with_context(|| {
                format!(
                    "no database: name one with --database-url (DATABASE_URL), or the directory of a `gatehouse up` with \
                     --data-dir; {} cannot be read",
                    file.display()
                )
            })?;
            (url.trim().to_owned(), Some(directory))
        };
        Ok(Located {
            database: DatabaseOptions {
                database_url,
                pool: self.pool,
            },
            data_dir,
        })
    }
}

impl Located {
    /// What the `gatehouse up` of the data directory has opened for its demo team.
    pub(crate) fn demo_exemption(&self) -> anyhow::Result<Option<Exemption>> {
        let directory = self.data_dir.as_deref();
        let demo = directory.map(demo::read).transpose()?.flatten();
        Ok(demo.and_then(|demo| demo.exemption()))
    }

    /// The operator's master key, or the one in the data directory.
    pub(crate) fn master_key(&self) -> anyhow::Result<MasterKey> {
        match &self.data_dir {
            None => required_master_key(),
            Some(directory) => match master_key()? {
                Some(key) => Ok(key),
                None => master_key_in(&directory.join(MASTER_KEY)),
            },
        }
    }
}

/// Reads a master key from a file.
fn master_key_in(path: &Path) -> anyhow::Result<MasterKey> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the master key {}", path.display()))?;
    parse_master_key(&text)
        .with_context(|| format!("the master key in {} is unusable", path.display()))
}

/// How a process connects to Postgres.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct PoolOptions {
    /// Most connections of this process; five more watch the database and serve the queue, and the interface has five
    #[arg(long, env = "GATEHOUSE_DATABASE_CONNECTIONS", default_value_t = 16, value_parser = whole(2..=1_000_u32))]
    pub(crate) database_connections: u32,
}

impl PoolOptions {
    pub(crate) fn settings(self) -> PoolSettings {
        PoolSettings {
            connections: self.database_connections,
            acquire: Duration::from_secs(5),
        }
    }
}

/// Where the HTTP interface listens.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ListenOptions {
    /// Where the HTTP interface listens
    #[arg(long, env = "GATEHOUSE_LISTEN", default_value = "127.0.0.1:8080", value_parser = address)]
    pub(crate) listen: SocketAddr,
}

/// Where metrics and health are.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MetricsOptions {
    /// Where /metrics, /healthz and /readyz listen
    #[arg(
        long,
        env = "GATEHOUSE_METRICS_LISTEN",
        default_value = "127.0.0.1:9464",
        value_parser = address
    )]
    pub(crate) metrics_listen: SocketAddr,
}

/// How much a process works at once, and with whom.
#[derive(Debug, Args)]
pub(crate) struct WorkOptions {
    /// Jobs of each queue that run at the same time
    #[arg(long, env = "GATEHOUSE_CONCURRENCY", default_value_t = 64, value_parser = whole(1..=10_000_u16))]
    pub(crate) concurrency: u16,
    /// How long a process may be silent before its jobs go to others, in seconds
    #[arg(long, env = "GATEHOUSE_LEASE_SECONDS", default_value_t = 30, value_parser = whole(1..=86_400_u64))]
    pub(crate) lease_seconds: u64,
    /// How long running jobs may go on after a shutdown began, in seconds
    #[arg(long, env = "GATEHOUSE_GRACE_SECONDS", default_value_t = 20, value_parser = whole(0..=86_400_u64))]
    pub(crate) grace_seconds: u64,
    /// How long an item may wait, from its acceptance, for providers that limit requests or keep failing, in seconds; then
    /// its site's `on_failure` decides
    #[arg(long, env = "GATEHOUSE_ANALYSIS_PATIENCE_SECONDS", default_value_t = 3_600, value_parser = whole(0..=86_400_u64))]
    pub(crate) analysis_patience_seconds: u64,
    /// Answers of providers that a team may have kept for equal texts, where its sites want that; 0 keeps none
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
    pub(crate) fn queue(&self) -> queue::Config {
        let lease = Duration::from_secs(self.lease_seconds);
        let fresh = queue::Config::default();
        queue::Config {
            lease,
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

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Human,
    /// For collectors.
    Json,
}

/// `GATEHOUSE_LOG_FORMAT`, when it is set.
pub(crate) fn log_format() -> anyhow::Result<Option<LogFormat>> {
    match variable("GATEHOUSE_LOG_FORMAT")?.as_deref() {
        None => Ok(None),
        Some("human") => Ok(Some(LogFormat::Human)),
        Some("json") => Ok(Some(LogFormat::Json)),
        Some(other) => bail!("GATEHOUSE_LOG_FORMAT is {other:?}; it may be human or json"),
    }
}

/// `GATEHOUSE_LOG`, a tracing filter such as `info` or `warn,gatehouse=debug`.
pub(crate) fn log_filter() -> anyhow::Result<Option<String>> {
    variable("GATEHOUSE_LOG")
}

/// The master key from `GATEHOUSE_MASTER_KEY` or the file that `GATEHOUSE_MASTER_KEY_FILE` names, when one is set.
pub(crate) fn master_key() -> anyhow::Result<Option<MasterKey>> {
    let file = variable("GATEHOUSE_MASTER_KEY_FILE")?;
    let (text, source) = match (variable("GATEHOUSE_MASTER_KEY")?, file) {
        (Some(_), Some(_)) => {
            bail!("GATEHOUSE_MASTER_KEY and GATEHOUSE_MASTER_KEY_FILE are both set; unset one")
        }
        (Some(key), None) => (key, "GATEHOUSE_MASTER_KEY".to_owned()),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read the master key {path}"))?;
            (text, path)
        }
        (None, None) => return Ok(None),
    };
    parse_master_key(&text)
        .map(Some)
        .with_context(|| format!("the master key in {source} is unusable"))
}

/// The master key that separate processes cannot do without.
pub(crate) fn required_master_key() -> anyhow::Result<MasterKey> {
    master_key()?.context(
        "no master key: set GATEHOUSE_MASTER_KEY_FILE (or GATEHOUSE_MASTER_KEY) to 32 random bytes in base64, \
         for example from `head -c 32 /dev/urandom | base64`",
    )
}

/// `GATEHOUSE_WEBHOOK_SECRET`, with which `gatehouse listen` verifies, when it is set.
pub(crate) fn webhook_secret() -> anyhow::Result<Option<WebhookSecret>> {
    let secret = variable("GATEHOUSE_WEBHOOK_SECRET")?.map(|text| text.parse());
    secret
        .transpose()
        .context("the webhook secret in GATEHOUSE_WEBHOOK_SECRET is unusable")
}

/// Reads 32 bytes in base64, or several keys separated by white space: the first one seals, all open.
pub(crate) fn parse_master_key(text: &str) -> anyhow::Result<MasterKey> {
    let mut keys = text.split_whitespace().map(key_bytes);
    let first = keys.next().context("it is empty")??;
    keys.try_fold(
        MasterKey::new(first),
        |key, older| Ok(key.replacing(older?)),
    )
}

fn key_bytes(text: &str) -> anyhow::Result<[u8; 32]> {
    let bytes = STANDARD.decode(text).context("it is not base64")?;
    let length = bytes.len();
    bytes
        .try_into()
        .ok()
        .with_context(|| format!("it is {length} bytes instead of 32"))
}

/// The data directory of a command that has no option for it: `GATEHOUSE_DATA_DIR`, or the default; none where there is no
/// home.
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
        .context("neither HOME nor XDG_DATA_HOME is set; name a directory with --data-dir")
}

/// A variable, if it is set. Secrets are not options: other users could read them in the list of processes.
fn variable(name: &str) -> anyhow::Result<Option<String>> {
    match std::env::var(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!("{name} is not valid UTF-8"),
    }
}
