//! `gatehouse admin`: a first set-up from the command line.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use domain::{
    event::EventKind,
    id::{RuleGroupId, SiteId, TeamId},
};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use store::{rule_group, tenant};
use url::Url;

use crate::{
    config::{self, DatabaseOptions},
    rule_file::RuleFile,
    service,
};

/// Options of `gatehouse admin`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: DatabaseOptions,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a team
    CreateTeam {
        #[arg(long)]
        name: String,
    },
    /// Make a site with a default rule group and a webhook secret, which is shown once
    CreateSite {
        #[arg(long)]
        team: TeamId,
        #[arg(long)]
        name: String,
        /// A YAML file with the site's default group; without, the demo's rules
        #[arg(long)]
        rules: Option<PathBuf>,
    },
    /// Make a key for a site; it is shown once
    CreateKey {
        #[arg(long)]
        site: SiteId,
    },
    /// Replace a site's keys by a new one; the old ones stop working at once
    RotateKey {
        #[arg(long)]
        site: SiteId,
    },
    /// Add a webhook endpoint to a site
    CreateEndpoint {
        #[arg(long)]
        site: SiteId,
        #[arg(long)]
        url: Url,
        /// Which events it gets; all by default
        #[arg(long, value_delimiter = ',')]
        events: Vec<EventKind>,
    },
    /// Load a rule group from a YAML file: a new group, or a new live version of one
    LoadRules {
        #[arg(long)]
        team: TeamId,
        /// The group that gets a new version; without, the file makes a new group
        #[arg(long)]
        publish_to: Option<RuleGroupId>,
        file: PathBuf,
    },
}

/// Does it in one transaction and prints what was made.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let mut conn = service::connect(&options.database, "gatehouse admin").await?;
    let mut tx = conn.begin().await?;
    let made = act(&mut tx, options.action).await?;
    tx.commit().await?;
    print(&made, options.json)
}

async fn act(conn: &mut PgConnection, action: Action) -> anyhow::Result<Value> {
    match action {
        Action::CreateTeam { name } => {
            let team = tenant::create_team(conn, &name).await?;
            Ok(json!({ "team_id": team }))
        }
        Action::CreateSite { team, name, rules } => create_site(conn, team, &name, rules).await,
        Action::CreateKey { site } => {
            known_site(conn, site).await?;
            let (id, key) = tenant::create_site_key(conn, site).await?;
            Ok(json!({ "site_id": site, "key_id": id, "site_key": key.expose() }))
        }
        Action::RotateKey { site } => {
            known_site(conn, site).await?;
            let (id, key) = tenant::rotate_site_key(conn, site).await?;
            Ok(json!({ "site_id": site, "key_id": id, "site_key": key.expose() }))
        }
        Action::CreateEndpoint { site, url, events } => {
            known_site(conn, site).await?;
            ensure!(
                matches!(url.scheme(), "http" | "https"),
                "an endpoint is an http or https URL, not {url}"
            );
            let events = if events.is_empty() {
                EventKind::ALL
            } else {
                &events
            };
            let endpoint = tenant::create_endpoint(conn, site, url.as_str(), events).await?;
            Ok(json!({ "endpoint_id": endpoint, "url": url }))
        }
        Action::LoadRules {
            team,
            publish_to,
            file,
        } => load_rules(conn, team, publish_to, file).await,
    }
}

async fn create_site(
    conn: &mut PgConnection,
    team: TeamId,
    name: &str,
    rules: Option<PathBuf>,
) -> anyhow::Result<Value> {
    ensure!(
        tenant::team_exists(conn, team).await?,
        "there is no team {team}"
    );
    let key = config::required_master_key()?;
    service::check_master_key(conn, &key).await?;
    let rules = match rules {
        Some(file) => read_rules(&file)?,
        None => RuleFile::demo(),
    };
    let group =
        rule_group::create(conn, team, &format!("Default of {name}"), rules.version()).await?;
    let (site, secret) = tenant::create_site(conn, &key, team, name, group).await?;
    Ok(json!({ "site_id": site, "rule_group_id": group, "webhook_secret": secret.expose() }))
}

async fn load_rules(
    conn: &mut PgConnection,
    team: TeamId,
    publish_to: Option<RuleGroupId>,
    file: PathBuf,
) -> anyhow::Result<Value> {
    ensure!(
        tenant::team_exists(conn, team).await?,
        "there is no team {team}"
    );
    let rules = read_rules(&file)?;
    let Some(group) = publish_to else {
        let group = rule_group::create(conn, team, &rules.name, rules.version()).await?;
        return Ok(json!({ "rule_group_id": group }));
    };
    let version = rule_group::publish(conn, team, group, rules.version()).await?;
    let version = version.with_context(|| format!("team {team} has no rule group {group}"))?;
    Ok(json!({ "rule_group_id": group, "version_id": version }))
}

fn read_rules(file: &Path) -> anyhow::Result<RuleFile> {
    let yaml =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    RuleFile::parse(&yaml).with_context(|| format!("{} cannot be loaded", file.display()))
}

async fn known_site(conn: &mut PgConnection, site: SiteId) -> anyhow::Result<()> {
    let team = tenant::team_of_site(conn, site).await?;
    ensure!(team.is_some(), "there is no site {site}");
    Ok(())
}

fn print(made: &Value, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if as_json {
        writeln!(out, "{made}")?;
        return Ok(());
    }
    for (name, value) in made.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(text) => writeln!(out, "{name:<16}{text}")?,
            None => writeln!(out, "{name:<16}{value}")?,
        }
    }
    Ok(())
}
