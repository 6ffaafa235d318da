//! The demo team and site that `gatehouse up` creates.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use domain::{
    id::{EndpointId, SiteId},
    webhook::EndpointUrl,
};
use management::{
    Caller, Management, Refused,
    endpoints::{self, EndpointChange, NewEndpoint},
    provisioning::{self, NewSite, NewTenant},
};
use store::{PgConnection, encryption::MasterKey, site, team};
use url::Url;

use crate::{
    command_line::told,
    data_dir::DataDir,
    demo_file::{self, Demo},
    rule_file,
};

const TEAM: &str = "Demo";
const SITE: &str = "Demo site";

/// Where this process listens, for `demo.json`.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// See [`Demo::base_url`].
    pub(crate) base_url: String,
    /// See [`Demo::metrics_url`].
    pub(crate) metrics_url: String,
}

/// When demo data can be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The database is private, or the operator asked for demo data.
    Given,
    /// Only if the database is empty.
    IfEmpty,
}

/// Finds or creates the demo data and writes `demo.json`. `management` must have the master key and
/// permit the webhook URL. `None`: the database is in use and nobody asked for a demo.
pub(crate) async fn prepare(
    data: &DataDir,
    management: &Arc<Management>,
    consent: Consent,
    addresses: Addresses,
    webhook_url: Option<Url>,
) -> anyhow::Result<Option<Demo>> {
    let caller = Caller::command_line(management);
    let key = management.master_key().map_err(told)?;
    let mut conn = management.pool.acquire().await?;
    let found = site::find_named(&mut conn, TEAM, SITE).await?;
    let known = demo_file::read(data.path())?
        .filter(|demo| found.as_ref().is_some_and(|site| site.id == demo.site_id));
    let endpoint = webhook_url.as_ref().map(|url| url.as_str().parse());
    let endpoint: Option<EndpointUrl> = endpoint.transpose()?;
    // Each of these is one transaction, so an interrupted first start leaves no incomplete demo.
    let (access, webhook_url) = match (known, found) {
        (Some(demo), _) => {
            // The secret may have been rotated meanwhile.
            let webhook_secret = current_secret(&mut conn, key, demo.site_id).await?;
            drop(conn);
            let mut demo = Demo {
                base_url: addresses.base_url,
                metrics_url: addresses.metrics_url,
                webhook_secret,
                ..demo
            };
            if let Some(url) = endpoint {
                demo.endpoint_id = Some(move_endpoint(&caller, &demo, url).await?);
                demo.webhook_url = webhook_url;
            }
            demo_file::write(data, &demo)?;
            return Ok(Some(demo));
        }
        (None, Some(site)) if consent == Consent::Given => {
            let name = TEAM.parse()?;
            let access = provisioning::access(&caller, site.id, name, endpoint).await;
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
            let access = provisioning::tenant(&caller, new).await;
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
    let demo = Demo {
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
    };
    demo_file::write(data, &demo)?;
    Ok(Some(demo))
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

/// Moves the demo's endpoint to this URL and enables it, or creates one if there is none.
async fn move_endpoint(
    caller: &Caller,
    demo: &Demo,
    url: EndpointUrl,
) -> anyhow::Result<EndpointId> {
    if let Some(id) = demo.endpoint_id {
        let change = EndpointChange {
            url: Some(url.clone()),
            ..EndpointChange::default()
        };
        match endpoints::update(caller, id, change).await {
            Ok(_) => {
                let enabled = endpoints::enable(caller, id).await;
                return Ok(enabled.map_err(told)?.id);
            }
            Err(Refused::NotFound(_)) => {}
            Err(refused) => return Err(told(refused)),
        }
    }
    let new = NewEndpoint::at(url);
    let endpoint = endpoints::create(caller, demo.site_id, new).await;
    Ok(endpoint.map_err(told)?.id)
}
