//! What the machine has for a cluster: Postgres's programs, and an account that may run them.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Context as _;

/// The account that Postgres runs as when the benchmark runs as root. Postgres refuses to run as
/// root.
#[derive(Clone, Copy)]
pub(super) struct Account {
    pub(super) name: &'static str,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Account {
    /// None unless the caller is root: then Postgres runs as the caller.
    pub(super) fn choose() -> anyhow::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let users = fs::read_to_string("/etc/passwd")?;
        let find = |name: &'static str| {
            let line = users
                .lines()
                .find(|line| line.split(':').next() == Some(name))?;
            let mut numbers = line
                .split(':')
                .skip(2)
                .map_while(|field| field.parse().ok());
            Some(Self {
                name,
                uid: numbers.next()?,
                gid: numbers.next()?,
            })
        };
        let account = find("postgres").or_else(|| find("nobody"));
        Ok(Some(account.context(
            "there is no account `postgres` or `nobody` to run Postgres as",
        )?))
    }
}

/// The name of the account that Postgres runs as. None unless the caller is root.
pub(crate) fn account_name() -> anyhow::Result<Option<&'static str>> {
    Ok(Account::choose()?.map(|account| account.name))
}

/// The directory with Postgres's programs: the newest version that Debian installed, else what `pg_config` says.
///
/// # Errors
/// There is none on this machine.
pub(crate) fn find_binaries() -> anyhow::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let newest = versions
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse::<u32>().ok()?,
                entry.path().join("bin"),
            ))
        })
        .filter(|(_, binaries)| binaries.join("pgbench").exists())
        .max();
    if let Some((_, binaries)) = newest {
        return Ok(binaries);
    }
    let asked = Command::new("pg_config").arg("--bindir").output();
    let asked = asked.ok().filter(|answer| answer.status.success());
    let told = asked.map(|answer| PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim()));
    told.filter(|binaries| binaries.join("pgbench").exists())
        .context("Postgres with pgbench was not found: install it (apt-get install postgresql) or name --postgres-bin")
}
