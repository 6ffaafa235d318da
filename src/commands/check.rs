//! `gatehouse check`: what a process would need, tried without starting one.

use std::io::Write as _;

use anyhow::Context as _;
use store::schema;
use workers::provider::Profile;

use crate::{
    config::{self, CheckOptions},
    service,
};

/// Prints a line for each thing that is in order; the first that is not ends it.
pub(crate) async fn run(options: CheckOptions) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    let key = config::required_master_key()?;
    writeln!(out, "master key: readable")?;
    let pool = schema::pool(
        &options.database.database_url,
        "gatehouse check",
        options.database.pool.settings(),
    )?;
    let current = schema::is_current(&pool)
        .await
        .context("the database cannot be used")?;
    writeln!(out, "database: reachable")?;
    anyhow::ensure!(
        current,
        "the database has not this version's schema yet: run `gatehouse migrate`"
    );
    writeln!(out, "schema: up to date")?;
    service::check_master_key(&mut *pool.acquire().await?, &key).await?;
    writeln!(out, "master key: opens this database's secrets")?;
    let providers: Vec<String> = options
        .providers
        .load()?
        .iter()
        .map(|provider| described(provider.profile()))
        .collect();
    writeln!(out, "providers: {}", providers.join(", "))?;
    let policy = options.egress.policy(None);
    let ranges = policy.ranges.iter().map(|range| range.team);
    let teams = ranges.chain(policy.exempt.iter().map(|exemption| exemption.team));
    writeln!(
        out,
        "egress: {} networks and {} hosts opened, {} of them for one team only",
        policy.ranges.len(),
        policy.exempt.len(),
        teams.flatten().count()
    )?;
    Ok(())
}

/// A provider in a few words: its name, what it speaks, and what it is shown.
fn described(profile: &Profile) -> String {
    let Profile {
        name, kind, scope, ..
    } = profile;
    let shown = match (scope.text.is_empty(), scope.image.is_empty()) {
        (false, false) => "text and images",
        (false, true) => "text",
        (true, _) => "images",
    };
    format!("{name} ({kind}, {shown})")
}
