//! The demo team and site that `gatehouse up` makes, and `demo.json`, which tells how to use them.

use std::{fs, path::Path};

use anyhow::{Context as _, bail};
use domain::{
    id::{EndpointId, RuleGroupId, SiteId, TeamId},
    webhook::EndpointUrl,
};
use management::{
    Caller, Management, Refused,
    endpoints::{self, EndpointChange, NewEndpoint},
    set_up::{self, Access, NewSite, NewTenant},
};
use serde::{Deserialize, Serialize};
use store::{PgConnection, seal::MasterKey, site, team};
use url::Url;
use workers::outbound::{Exemption, HostPort};

use crate::{
    commands::face::told,
    data_dir::{Audience, DataDir},
    rule_file,
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

/// Finds or makes the demo data and writes `demo.json`. The use cases have the master key, and permit the webhook URL. None: the
/// database is in use and nobody asked for a demo.
pub(crate) async fn prepare(
    data: &DataDir,
    management: &Management,
    consent: Consent,
    addresses: Addresses,
    webhook_url: Option<Url>,
) -> anyhow::Result<Option<Demo>> {
    let caller = Caller::command_line();
    let key = management.master_key().map_err(told)?;
    let mut conn = management.pool.acquire().await?;
    let found = site::find_named(&mut conn, TEAM, SITE).await?;
    let known = read(data.path())?
        .filter(|demo| found.as_ref().is_some_and(|site| site.id == demo.site_id));
    let endpoint = webhook_url.as_ref().map(|url| url.as_str().parse());
    let endpoint: Option<EndpointUrl> = endpoint.transpose()?;
    // Each of these is made whole or not at all: an interrupted first start leaves no half of a demo.
    let (access, webhook_url) = match (known, found) {
        (Some(demo), _) => {
            // It may have been rotated since.
            let webhook_secret = current_secret(&mut conn, key, demo.site_id).await?;
            drop(conn);
            let mut demo = Demo {
                base_url: addresses.base_url,
                metrics_url: addresses.metrics_url,
                webhook_secret,
                ..demo
            };
            if let Some(url) = endpoint {
                demo.endpoint_id = Some(move_endpoint(management, &caller, &demo, url).await?);
                demo.webhook_url = webhook_url;
            }
            write(data, &demo)?;
            return Ok(Some(demo));
        }
        (None, Some(site)) if consent == Consent::Given => {
            let name = TEAM.parse()?;
            let access = set_up::access(management, &caller, site.id, name, endpoint).await;
            (access, webhook_url)
        }
        (None, None) if consent == Consent::Given || team::none_exist(&mut conn).await? => {
            let rules = rule_file::demo();
            let new = NewTenant {
                name: TEAM.parse()?,
                site: NewSite {
                    name: SITE.parse()?,
                    group: rules.name,
                    rules: rules.rules,
                },
                endpoint,
            };
            let access = set_up::tenant(management, &caller, new).await;
            (access, webhook_url)
        }
        (None, _) if webhook_url.is_some() => {
            bail!(
                "--webhook-url needs the demo site, and this database is in use: add --demo to make one in it"
            )
        }
        (None, _) => return Ok(None),
    };
    let access = access.map_err(told)?;
    let webhook_secret = current_secret(&mut conn, key, access.site).await?;
    let demo = described(&access, webhook_secret, addresses, webhook_url);
    write(data, &demo)?;
    Ok(Some(demo))
}

fn described(
    access: &Access,
    webhook_secret: String,
    addresses: Addresses,
    webhook_url: Option<Url>,
) -> Demo {
    Demo {
        base_url: addresses.base_url,
        metrics_url: addresses.metrics_url,
        team_id: access.team,
        site_id: access.site,
        rule_group_id: access.rule_group,
        site_key: access.key.expose().to_owned(),
        webhook_secret,
        management_token: access.token.expose().to_owned(),
        endpoint_id: access.endpoint,
        webhook_url,
    }
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

/// Moves the demo's endpoint to this URL and enables it, or makes one if there is none.
async fn move_endpoint(
    management: &Management,
    caller: &Caller,
    demo: &Demo,
    url: EndpointUrl,
) -> anyhow::Result<EndpointId> {
    if let Some(id) = demo.endpoint_id {
        let change = EndpointChange {
            url: Some(url.clone()),
            ..EndpointChange::default()
        };
        match endpoints::update(management, caller, id, change).await {
            Ok(_) => {
                let enabled = endpoints::enable(management, caller, id).await;
                return Ok(enabled.map_err(told)?.id);
            }
            Err(Refused::NotFound(_)) => {}
            Err(refused) => return Err(told(refused)),
        }
    }
    let new = NewEndpoint::at(url);
    let endpoint = endpoints::create(management, caller, demo.site_id, new).await;
    Ok(endpoint.map_err(told)?.id)
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
