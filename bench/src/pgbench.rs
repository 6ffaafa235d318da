//! pgbench on the committed script of a plain implementation.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, ensure};
use domain::key::SiteKey;
use serde::Serialize;
use sqlx::PgConnection;
use tokio::process::Command;

use crate::{
    cluster::{Cluster, DATABASE},
    sites::Site,
};

/// The five statements.
pub(crate) const PLAIN: &str = include_str!("../pgbench/plain.sql");

/// The script's variables.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    /// How many sites it may choose from: see [`tell_sites`].
    pub(crate) sites: usize,
    pub(crate) body: String,
}

/// What pgbench measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) clients: u32,
    /// Transactions (submissions) a second, without the time for connecting.
    pub(crate) rate: f64,
    pub(crate) mean_latency_ms: f64,
    pub(crate) transactions: u64,
}

/// Makes the table from which the script reads the hash of a site's key. An application would know
/// its own key.
pub(crate) async fn tell_sites(conn: &mut PgConnection, sites: &[Site]) -> anyhow::Result<()> {
    let mut hashes = Vec::new();
    for site in sites {
        let key: SiteKey = site.key.parse()?;
        hashes.push(key.hash().as_bytes().to_vec());
    }
    sqlx::query("create table plain_sites (number bigint primary key, key_hash bytea not null)")
        .execute(&mut *conn)
        .await?;
    sqlx::query(
        "
        insert into plain_sites (number, key_hash)
        select number - 1, hash from unnest($1::bytea []) with ordinality as s (hash, number)
        ",
    )
    .bind(hashes)
    .execute(&mut *conn)
    .await?;
    sqlx::query("grant select on plain_sites to gatehouse")
        .execute(&mut *conn)
        .await?;
    sqlx::query("vacuum analyze plain_sites")
        .execute(conn)
        .await?;
    Ok(())
}

/// Runs the script for `duration` with `clients` clients.
///
/// # Errors
/// pgbench failed, or a transaction did.
pub(crate) async fn run(
    cluster: &Cluster,
    script: &Path,
    variables: &Variables,
    clients: u32,
    duration: Duration,
) -> anyhow::Result<Measured> {
    let Variables { sites, body } = variables;
    let mut command = cluster.client("pgbench");
    command
        .args([
            "--no-vacuum",
            "--protocol=prepared",
            &format!("--client={clients}"),
            "--jobs=2",
        ])
        .arg(format!("--time={}", duration.as_secs().max(1)))
        .arg(format!("--file={}", script.display()))
        .arg(format!("--define=sites={sites}"))
        .arg(format!("--define=body={body}"))
        .arg("--define=item=0")
        .arg(DATABASE);
    let ran = Command::from(command)
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot run pgbench")?;
    let printed = String::from_utf8_lossy(&ran.stdout);
    ensure!(
        ran.status.success(),
        "pgbench failed: {}",
        String::from_utf8_lossy(&ran.stderr).trim()
    );
    parse(&printed, clients).with_context(|| format!("pgbench printed {printed}"))
}

fn parse(printed: &str, clients: u32) -> anyhow::Result<Measured> {
    let value = |label: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(label));
        let value = line.and_then(|rest| rest.split_whitespace().next());
        value.with_context(|| format!("pgbench told no `{label}`"))
    };
    let failed: u64 = value("number of failed transactions: ")
        .unwrap_or("0")
        .parse()?;
    ensure!(failed == 0, "{failed} of pgbench's transactions failed");
    Ok(Measured {
        clients,
        rate: value("tps = ")?.parse()?,
        mean_latency_ms: value("latency average = ")?.parse()?,
        transactions: value("number of transactions actually processed: ")?.parse()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "pgbench (15.14)
transaction type: plain.sql
scaling factor: 1
query mode: prepared
number of clients: 16
number of threads: 2
duration: 3 s
number of transactions actually processed: 17999
number of failed transactions: 0 (0.000%)
latency average = 2.662 ms
initial connection time = 21.001 ms
tps = 6010.334222 (without initial connection time)
";

    #[test]
    fn the_answer_of_pgbench_is_read() {
        let measured = parse(PRINTED, 16).unwrap();
        assert_eq!((measured.clients, measured.transactions), (16, 17_999));
        assert!((measured.rate - 6_010.334_222).abs() < 1e-9);
        assert!((measured.mean_latency_ms - 2.662).abs() < 1e-9);
    }

    #[test]
    fn failed_transactions_are_no_measurement() {
        assert!(parse(&PRINTED.replace("transactions: 0", "transactions: 3"), 16).is_err());
    }
}
