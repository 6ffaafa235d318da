//! The demo team and site that `gatehouse up` makes, and `demo.json`, which tells how to use them.

use std::{fs, path::Path};

use anyhow::{Context as _, bail};
use domain::{
    audit::Action,
    event::EventKind,
    id::{EndpointId, RuleGroupId, SiteId, TeamId},
    scope::Scope,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use store::{
    PgPool, endpoint, plan, rule_group,
    seal::MasterKey,
    site, team,
    token::{self, Grant, NewToken},
};
use url::Url;
use workers::outbound::{Exemption, HostPort};

use crate::{
    audit,
    data_dir::{Audience, DataDir},
    rule_file::RuleFile,
};

/// Its name in the data directory.
pub(crate) const FILE: &str = "demo.json";
const TEAM: &str = "Demo";
const SITE: &str = "Demo site";

/// What `demo.json` holds: everything that a first request needs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Demo {
    /// Where the interface is, with its prefix.
    pub(crate) base_url: String,
    /// Where the metrics are.
    pub(crate) metrics_url: String,
    /// The demo team.
    pub(crate) team_id: TeamId,
    /// The demo site.
    pub(crate) site_id: SiteId,
    /// Its default rule group.
    pub(crate) rule_group_id: RuleGroupId,
    /// A key for the site.
    pub(crate) site_key: String,
    /// What the site's webhooks are signed with.
    pub(crate) webhook_secret: String,
    /// A token for the management interface.
    pub(crate) management_token: String,
    /// The endpoint that `--webhook-url` made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint_id: Option<EndpointId>,
    /// Where it is; its host and port are exempt from the egress guard for the demo team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) webhook_url: Option<Url>,
}

/// Where this process listens, as `demo.json` tells it.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// See [`Demo::base_url`].
    pub(crate) base_url: String,
    /// See [`Demo::metrics_url`].
    pub(crate) metrics_url: String,
}

/// When demo data may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The database is ours, or its owner asked for them.
    Given,
    /// Only if the database is empty.
    IfEmpty,
}

impl Demo {
    /// The host and port that the demo team's webhooks, and nobody else's, may reach although they are not public.
    pub(crate) fn exemption(&self) -> Option<Exemption> {
        Some(Exemption {
            target: HostPort::of(self.webhook_url.as_ref()?)?,
            team: Some(self.team_id),
        })
    }
}

/// Finds or makes the demo data and writes `demo.json`. None: the database is in use and nobody asked for a demo.
pub(crate) async fn prepare(
    data: &DataDir,
    pool: &PgPool,
    key: &MasterKey,
    consent: Consent,
    addresses: Addresses,
    webhook_url: Option<Url>,
) -> anyhow::Result<Option<Demo>> {
    let mut conn = pool.acquire().await?;
    // All or nothing: an interrupted first start must not leave half a demo.
    let mut tx = conn.begin().await?;
    let found = site::find_named(&mut tx, TEAM, SITE).await?;
    let told = read(data.path())?
        .filter(|demo| found.as_ref().is_some_and(|site| site.id == demo.site_id));
    let mut demo = match (told, found) {
        (Some(demo), _) => Demo {
            base_url: addresses.base_url,
            metrics_url: addresses.metrics_url,
            // It may have been rotated since.
            webhook_secret: current_secret(&mut tx, key, demo.site_id).await?,
            ..demo
        },
        (None, Some(site)) if consent == Consent::Given => {
            issue(&mut tx, key, site, addresses).await?
        }
        (None, None) if consent == Consent::Given || team::none_exist(&mut tx).await? => {
            let site = create(&mut tx, key).await?;
            issue(&mut tx, key, site, addresses).await?
        }
        (None, _) if webhook_url.is_some() => {
            bail!(
                "--webhook-url needs the demo site, and this database is in use: add --demo to make one in it"
            )
        }
        (None, _) => return Ok(None),
    };
    if let Some(url) = webhook_url {
        set_endpoint(&mut tx, &mut demo, url).await?;
    }
    tx.commit().await?;
    write(data, &demo)?;
    Ok(Some(demo))
}

async fn create(conn: &mut PgConnection, key: &MasterKey) -> anyhow::Result<site::FoundSite> {
    let rules = RuleFile::demo();
    let team = team::create(conn, &TEAM.parse()?, plan::UNLIMITED)
        .await?
        .id;
    let details = json!({ "name": TEAM, "plan_id": plan::UNLIMITED });
    audit::record(
        conn,
        Action::TeamCreate,
        Some(team),
        team.as_uuid(),
        details,
    )
    .await?;
    let default_group = rule_group::create(conn, team, &rules.name, rules.version()).await?;
    let (id, _) = site::create(conn, key, team, SITE, default_group).await?;
    let details = json!({ "name": SITE, "rule_group_id": default_group });
    audit::record(conn, Action::SiteCreate, Some(team), id.as_uuid(), details).await?;
    Ok(site::FoundSite {
        id,
        team,
        default_group,
    })
}

/// New credentials for the demo site; older ones stay valid, since somebody may still use them.
async fn issue(
    conn: &mut PgConnection,
    key: &MasterKey,
    site: site::FoundSite,
    addresses: Addresses,
) -> anyhow::Result<Demo> {
    let team = Some(site.team);
    let (key_id, site_key) = site::keys::create(conn, site.id).await?;
    let details = json!({ "site_id": site.id });
    audit::record(conn, Action::KeyCreate, team, key_id.as_uuid(), details).await?;
    let (token, secret_token) = token::create(
        conn,
        &Grant::command_line(),
        NewToken {
            name: &TEAM.parse()?,
            team,
            scopes: Scope::ALL,
            expires_at: None,
        },
    )
    .await?;
    let details = json!({ "name": TEAM, "scopes": Scope::ALL });
    audit::record(conn, Action::TokenCreate, team, token.id.as_uuid(), details).await?;
    let webhook_secret = current_secret(conn, key, site.id).await?;
    Ok(Demo {
        base_url: addresses.base_url,
        metrics_url: addresses.metrics_url,
        team_id: site.team,
        site_id: site.id,
        rule_group_id: site.default_group,
        site_key: site_key.expose().to_owned(),
        webhook_secret,
        management_token: secret_token.expose().to_owned(),
        endpoint_id: None,
        webhook_url: None,
    })
}

async fn current_secret(
    conn: &mut PgConnection,
    key: &MasterKey,
    site: SiteId,
) -> anyhow::Result<String> {
    let secrets = site::webhook_secret::signing(conn, key, site)
        .await?
        .context("the demo site is gone")?;
    Ok(secrets.current.expose().to_owned())
}

async fn set_endpoint(conn: &mut PgConnection, demo: &mut Demo, url: Url) -> anyhow::Result<()> {
    let moved = match demo.endpoint_id {
        Some(endpoint) => endpoint::relocate(conn, endpoint, url.as_str()).await?,
        None => false,
    };
    if !moved {
        demo.endpoint_id =
            Some(endpoint::create(conn, demo.site_id, url.as_str(), EventKind::ALL).await?);
    }
    demo.webhook_url = Some(url);
    Ok(())
}

/// What a data directory's `demo.json` holds; none: there is none.
pub(crate) fn read(directory: &Path) -> anyhow::Result<Option<Demo>> {
    let path = directory.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let demo = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} cannot be read; remove it, and the next start issues a new key",
            path.display()
        )
    })?;
    Ok(Some(demo))
}

fn write(data: &DataDir, demo: &Demo) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(demo)?;
    text.push('\n');
    data.write(FILE, text.as_bytes(), Audience::Owner)
}
