//! The options that commands share, and everything that is read from the environment. Nothing else reads the environment.

mod animations;
mod commands;
mod console;
mod did_you_mean;
mod egress;
mod environment;
mod http;
mod invalid;
mod known_variables;
mod logs;
mod master_key;
mod otlp;
mod postgres;
mod providers;
mod retention;
mod rules;
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

pub(crate) use commands::{ApiOptions, CheckOptions, UpOptions, WorkerOptions};
pub(crate) use console::{ConsoleOptions, DEFAULT_CONSOLE, PublicUrlOptions};
pub(crate) use egress::{EgressOptions, check_url};
pub(crate) use environment::{problems, read};
pub(crate) use http::HttpOptions;
pub(crate) use invalid::{Invalid, exit_code, invalid};
pub(crate) use known_variables::unknown_variables;
pub(crate) use logs::{LogFormat, log_filter, log_format};
pub(crate) use master_key::{master_key, parse_master_key, required_master_key};
pub(crate) use otlp::OtlpOptions;
pub(crate) use postgres::{
    AnyDatabaseOptions, Database, DatabaseOptions, Located, PoolOptions, database_hosts,
};
pub(crate) use rules::{RuleOptions, StoredRulesOptions};
pub(crate) use value_parsers::{address, id, one_of, queue_name, service_url, time, whole};

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
