//! What teams set up: sites, their keys and endpoints, rule groups.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow, ensure};
use domain::{
    audit::Action,
    event::EventKind,
    id::{RuleGroupId, SiteId, TeamId},
    name::Name,
    webhook::EndpointUrl,
};
use serde_json::{Value, json};
use sqlx::PgConnection;
use store::{endpoint, rule_group, seal::MasterKey, site, team};
use workers::outbound::EgressPolicy;

use crate::{audit, config, rule_file::RuleFile, service};

pub(super) async fn create(
    conn: &mut PgConnection,
    key: &MasterKey,
    team: TeamId,
    name: &Name,
    rules: Option<PathBuf>,
) -> anyhow::Result<Value> {
    known_team(conn, team).await?;
    service::check_master_key(conn, key).await?;
    let rules = match rules {
        Some(file) => read_rules(&file)?,
        None => RuleFile::demo(),
    };
    let group =
        rule_group::create(conn, team, &format!("Default of {name}"), rules.version()).await?;
    let (site, secret) = site::create(conn, key, team, name.as_str(), group).await?;
    let details = json!({ "name": name, "rule_group_id": group });
    audit::record(
        conn,
        Action::SiteCreate,
        Some(team),
        site.as_uuid(),
        details,
    )
    .await?;
    Ok(json!({ "site_id": site, "rule_group_id": group, "webhook_secret": secret.expose() }))
}

pub(super) async fn create_key(conn: &mut PgConnection, site: SiteId) -> anyhow::Result<Value> {
    let team = team_of(conn, site).await?;
    let (id, key) = site::keys::create(conn, site).await?;
    let details = json!({ "site_id": site });
    audit::record(conn, Action::KeyCreate, Some(team), id.as_uuid(), details).await?;
    Ok(json!({ "site_id": site, "key_id": id, "site_key": key.expose() }))
}

pub(super) async fn rotate_key(conn: &mut PgConnection, site: SiteId) -> anyhow::Result<Value> {
    let team = team_of(conn, site).await?;
    let (id, key) = site::keys::rotate(conn, site).await?;
    let details = json!({ "site_id": site });
    audit::record(conn, Action::KeyRotate, Some(team), id.as_uuid(), details).await?;
    Ok(json!({ "site_id": site, "key_id": id, "site_key": key.expose() }))
}

pub(super) async fn create_endpoint(
    conn: &mut PgConnection,
    policy: &EgressPolicy,
    site: SiteId,
    url: &EndpointUrl,
    events: Vec<EventKind>,
) -> anyhow::Result<Value> {
    let team = team_of(conn, site).await?;
    config::judge(policy, team, url.url()).map_err(|why| anyhow!("--url: {why}"))?;
    let events: Vec<EventKind> = if events.is_empty() {
        EventKind::ALL.to_vec()
    } else {
        BTreeSet::from_iter(events).into_iter().collect()
    };
    let id = endpoint::create(conn, site, url.url().as_str(), &events).await?;
    let details = json!({ "site_id": site, "origin": url.origin(), "events": events });
    audit::record(
        conn,
        Action::EndpointCreate,
        Some(team),
        id.as_uuid(),
        details,
    )
    .await?;
    Ok(json!({ "endpoint_id": id, "url": url.url() }))
}

pub(super) async fn load_rules(
    conn: &mut PgConnection,
    team: TeamId,
    publish_to: Option<RuleGroupId>,
    file: PathBuf,
) -> anyhow::Result<Value> {
    known_team(conn, team).await?;
    let rules = read_rules(&file)?;
    let Some(group) = publish_to else {
        let group = rule_group::create(conn, team, &rules.name, rules.version()).await?;
        let (action, details) = (Action::RuleGroupCreate, json!({ "name": rules.name }));
        audit::record(conn, action, Some(team), group.as_uuid(), details).await?;
        return Ok(json!({ "rule_group_id": group }));
    };
    let version = rule_group::publish(conn, team, group, rules.version()).await?;
    let version = version.with_context(|| format!("team {team} has no rule group {group}"))?;
    let (action, details) = (Action::RuleGroupPublish, json!({ "version_id": version }));
    audit::record(conn, action, Some(team), group.as_uuid(), details).await?;
    Ok(json!({ "rule_group_id": group, "version_id": version }))
}

fn read_rules(file: &Path) -> anyhow::Result<RuleFile> {
    let yaml =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    RuleFile::parse(&yaml).with_context(|| format!("{} cannot be loaded", file.display()))
}

async fn known_team(conn: &mut PgConnection, team: TeamId) -> anyhow::Result<()> {
    ensure!(team::exists(conn, team).await?, "there is no team {team}");
    Ok(())
}

async fn team_of(conn: &mut PgConnection, site: SiteId) -> anyhow::Result<TeamId> {
    let team = site::team_of(conn, site).await?;
    team.with_context(|| format!("there is no site {site}"))
}
