//! Where Postgres is: in an option, in a variable, in a file that a variable names, or in the data directory of a `gatehouse up`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use database::{Hosts, PoolSettings};
use store::encryption::MasterKey;
use workers::outbound::Exemption;

use super::{default_data_dir, invalid::invalid, read_value, value_parsers::whole, variable};
use crate::{
    data_dir::{DATABASE_URL, MASTER_KEY},
    demo_file,
};

/// The variable of the option `--database-url`, and the one that names a file with its value.
const URL: &str = "DATABASE_URL";
const URL_FILE: &str = "DATABASE_URL_FILE";

/// Where Postgres is.
#[derive(Debug, Args)]
pub(crate) struct DatabaseOptions {
    /// Postgres, as postgres://user:password@host:port/database. Other users can read options in the list of processes:
    /// prefer the variable, or `DATABASE_URL_FILE` with the name of a file that has the URL
    #[arg(long, env = URL, hide_env_values = true)]
    database_url: Option<String>,
    #[command(flatten)]
    pub(crate) pool: PoolOptions,
}

/// A database, and how to connect to it.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) hosts: Hosts,
    pub(crate) pool: PoolOptions,
}

impl DatabaseOptions {
    /// The database that the operator named.
    ///
    /// # Errors
    /// There is no URL, it is wrong, or the file with it cannot be read.
    pub(crate) fn database(&self) -> anyhow::Result<Database> {
        let hosts = database_hosts(self.database_url.as_deref())?.context(invalid!(
            "no database: set {URL}, or {URL_FILE} to the name of a file with the URL"
        ))?;
        Ok(Database {
            hosts,
            pool: self.pool,
        })
    }
}

/// The servers of the URL of the option or of `DATABASE_URL`, or of the one in the file that `DATABASE_URL_FILE` names. An option
/// overrides both variables.
///
/// # Errors
/// Both variables are set, the file cannot be read or is empty, or the URL is wrong.
pub(crate) fn database_hosts(given: Option<&str>) -> anyhow::Result<Option<Hosts>> {
    let file = variable(URL_FILE)?;
    ensure!(
        file.is_none() || variable(URL)?.is_none(),
        invalid!("{URL} and {URL_FILE} are both set; unset one")
    );
    match (given, file) {
        (Some(url), _) => {
            let hosts = Hosts::parse(url);
            Ok(Some(hosts.context(invalid!(
                "{URL} (or --database-url) is not valid"
            ))?))
        }
        (None, Some(file)) => hosts_in(Path::new(&file)).map(Some),
        (None, None) => Ok(None),
    }
}

/// The servers of the URL in a file.
fn hosts_in(file: &Path) -> anyhow::Result<Hosts> {
    let shown = file.display();
    let text = read_value(file);
    let text = text.with_context(|| format!("cannot read the database URL in {shown}"))?;
    let url = text.trim();
    ensure!(
        !url.is_empty(),
        "the file {shown} with the database URL is empty"
    );
    Hosts::parse(url).with_context(|| format!("the database URL in {shown} is not valid"))
}

/// The database of a command that inspects it or sets it up.
#[derive(Debug, Args)]
pub(crate) struct AnyDatabaseOptions {
    /// Postgres, as postgres://user:password@host:port/database. `DATABASE_URL_FILE` can name a file with the URL instead
    /// [default: the private Postgres of `gatehouse up`]
    #[arg(long, env = URL, hide_env_values = true, global = true)]
    database_url: Option<String>,
    /// The data directory of that `gatehouse up` [default: the default of `gatehouse up`]
    #[arg(long, env = "GATEHOUSE_DATA_DIR", global = true)]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    pool: PoolOptions,
}

/// A database that a command found.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) database: Database,
    /// Its data directory, if it is a private Postgres.
    data_dir: Option<PathBuf>,
}

impl AnyDatabaseOptions {
    /// The operator's database, or the one in the data directory.
    ///
    /// # Errors
    /// There is neither.
    pub(crate) fn locate(self) -> anyhow::Result<Located> {
        let (hosts, data_dir) = if let Some(hosts) = database_hosts(self.database_url.as_deref())? {
            (hosts, None)
        } else {
            let directory = match self.data_dir {
                Some(directory) => directory,
                None => default_data_dir()?,
            };
            let file = directory.join(DATABASE_URL);
            let hosts = hosts_in(&file).context(
                "no database: give one with --database-url (DATABASE_URL, DATABASE_URL_FILE), or the directory of a `gatehouse up` \
                 with --data-dir",
            )?;
            (hosts, Some(directory))
        };
        Ok(Located {
            database: Database {
                hosts,
                pool: self.pool,
            },
            data_dir,
        })
    }
}

impl Located {
    /// The address that the `gatehouse up` of the data directory has opened for its demo team.
    pub(crate) fn demo_exemption(&self) -> anyhow::Result<Option<Exemption>> {
        let directory = self.data_dir.as_deref();
        let demo = directory.map(demo_file::read).transpose()?.flatten();
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

/// How a process connects to Postgres.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct PoolOptions {
    /// Maximum number of connections in the pool. In workers, up to four of these are for claims only. Five more watch the
    /// database and serve the queue, and the interface has another six
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

    /// How many of the connections are for claims, in a process that works on jobs.
    pub(crate) fn claims(self) -> u32 {
        (self.database_connections / 4).clamp(1, 4)
    }

    /// The pool of such a process.
    pub(crate) fn settings_beside_claims(self) -> PoolSettings {
        PoolSettings {
            connections: self.database_connections - self.claims(),
            ..self.settings()
        }
    }
}

/// The master key from `GATEHOUSE_MASTER_KEY` or the file that `GATEHOUSE_MASTER_KEY_FILE` names,
/// if one is set.
pub(crate) fn master_key() -> anyhow::Result<Option<MasterKey>> {
    let file = variable("GATEHOUSE_MASTER_KEY_FILE")?;
    let key = match (variable("GATEHOUSE_MASTER_KEY")?, file) {
        (Some(_), Some(_)) => {
            bail!(invalid!(
                "GATEHOUSE_MASTER_KEY and GATEHOUSE_MASTER_KEY_FILE are both set; unset one"
            ))
        }
        (Some(key), None) => parse_master_key(&key).context(invalid!(
            "the master key in GATEHOUSE_MASTER_KEY is unusable"
        )),
        (None, Some(path)) => master_key_in(Path::new(&path)),
        (None, None) => return Ok(None),
    };
    key.map(Some)
}

/// Reads a master key from a file.
fn master_key_in(path: &Path) -> anyhow::Result<MasterKey> {
    let text = read_value(path)
        .with_context(|| format!("cannot read the master key in {}", path.display()))?;
    parse_master_key(&text)
        .with_context(|| format!("the master key in {} is unusable", path.display()))
}

/// The master key, for commands that need one.
pub(crate) fn required_master_key() -> anyhow::Result<MasterKey> {
    master_key()?.context(invalid!(
        "no master key: set GATEHOUSE_MASTER_KEY to 32 random bytes in base64, for example from `head -c 32 /dev/urandom | base64`, \
         or GATEHOUSE_MASTER_KEY_FILE to the name of a file with them"
    ))
}

/// Reads a key of 32 bytes in base64, or several keys separated by white space. The first seals,
/// and all of them open.
pub(crate) fn parse_master_key(text: &str) -> anyhow::Result<MasterKey> {
    let mut keys = text.split_whitespace().map(key_bytes);
    let first = keys.next().context("it is empty")??;
    keys.try_fold(
        MasterKey::new(first),
        |key, older| Ok(key.replacing(older?)),
    )
}

fn key_bytes(text: &str) -> anyhow::Result<[u8; 32]> {
    // The decoder's message has a character of the key.
    let bytes = STANDARD.decode(text).ok().context("it is not base64")?;
    let length = bytes.len();
    bytes
        .try_into()
        .ok()
        .with_context(|| format!("it is {length} bytes instead of 32"))
}
