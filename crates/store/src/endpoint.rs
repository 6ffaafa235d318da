//! Webhook endpoints: where a site's events go, and each endpoint's delivery health.

pub mod crud;
pub(crate) mod health;

use std::time::Duration;

use domain::{
    event::EventKind,
    id::{EndpointId, SiteId, TeamId},
    reach::Reach,
    signature::SigningSecrets,
    webhook::CustomHeader,
};
use queue::{Lane, lanes};
use sqlx::{Connection as _, PgConnection, PgPool};
use uuid::Uuid;

pub use self::health::{Probe, take_probe};
use crate::{Error, encryption::MasterKey, jobs, plan::limit, site};

/// How many endpoints of the sites, the newest ones, are listed when the filter names none. Deleted
/// endpoints count.
pub(crate) const ENDPOINTS: i64 = 1_000;

/// Adds a webhook endpoint to a site. Run it in a transaction.
///
/// # Errors
/// [`Error::LimitReached`].
pub async fn create(
    conn: &mut PgConnection,
    site: SiteId,
    url: &str,
    events: &[EventKind],
) -> Result<EndpointId, Error> {
    limit::require_endpoint(conn, site).await?;
    let id = Uuid::now_v7();
    let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
    sqlx::query!(
        "insert into webhook_endpoints (id, site_id, url, events) values ($1, $2, $3, $4)",
        id,
        site.as_uuid(),
        url,
        &events as &[&str],
    )
    .execute(conn)
    .await?;
    Ok(id.into())
}

/// Disables endpoints, each for a reason that its owner is shown.
pub(crate) async fn disable(
    conn: &mut PgConnection,
    endpoints: &[(EndpointId, &'static str)],
) -> Result<(), sqlx::Error> {
    if endpoints.is_empty() {
        return Ok(());
    }
    let (endpoints, reasons): (Vec<Uuid>, Vec<&str>) = endpoints
        .iter()
        .map(|(endpoint, reason)| (endpoint.as_uuid(), *reason))
        .unzip();
    sqlx::query!(
        "
        update webhook_endpoints p
        set disabled_at = now(), disabled_reason = r.reason
        from unnest($1::uuid [], $2::text []) as r (endpoint_id, reason)
        where p.id = r.endpoint_id and p.disabled_at is null
        ",
        &endpoints,
        &reasons as &[&str],
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Opens the headers that an endpoint's owner wants on every request.
pub(crate) fn open_headers(
    key: &MasterKey,
    endpoint: EndpointId,
    sealed: &[u8],
) -> Result<Vec<CustomHeader>, Error> {
    let headers = key.open(&headers_owner(endpoint), sealed)?;
    Ok(serde_json::from_slice(&headers)?)
}

/// What an endpoint's headers are sealed for.
pub(crate) fn headers_owner(endpoint: EndpointId) -> String {
    format!("webhook_headers:{endpoint}")
}

fn seal_headers(
    key: Option<&MasterKey>,
    endpoint: EndpointId,
    headers: &[CustomHeader],
) -> Result<Option<Vec<u8>>, Error> {
    if headers.is_empty() {
        return Ok(None);
    }
    let headers = serde_json::to_vec(headers)?;
    Ok(Some(
        required(key)?.seal(&headers_owner(endpoint), &headers),
    ))
}

/// The key that headers are sealed with. Endpoints without headers need none.
fn required(key: Option<&MasterKey>) -> Result<&MasterKey, Error> {
    let missing = || Error::Unreadable("headers are sealed, and there is no master key".into());
    key.ok_or_else(missing)
}

/// An endpoint's name for people.
#[derive(Clone, Debug)]
pub struct Label {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Where it is.
    pub url: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its site.
    pub site: SiteId,
    /// The name of its site.
    pub site_name: String,
    /// Whether it was deleted.
    pub is_deleted: bool,
}

/// The labels of the endpoints of these sites, the newest first: all whose deliveries are listed.
pub async fn labels(conn: &mut PgConnection, sites: &[SiteId]) -> Result<Vec<Label>, Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    let rows = sqlx::query_as!(
        Label,
        r#"
        select
            p.id as endpoint, p.url, p.description, p.site_id as site, s.name as site_name,
            p.deleted_at is not null as "is_deleted!"
        from webhook_endpoints p
        join sites s on s.id = p.site_id
        where p.site_id = any($1)
        order by p.id desc
        limit $2
        "#,
        &sites,
        ENDPOINTS,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// Asks to send one request to an endpoint with a limit. None: send it now. Otherwise returns how
/// long to wait, and no job of that endpoint is claimed until then.
pub async fn permit(
    pool: &PgPool,
    endpoint: EndpointId,
    max_per_second: u32,
) -> Result<Option<Duration>, Error> {
    let mut conn = pool.acquire().await?;
    let mut tx = conn.begin().await?;
    let row = sqlx::query!(
        r#"
        with permit as (
            insert into webhook_endpoint_states as s (endpoint_id, second, sent)
            values ($1, date_trunc('second', clock_timestamp()), 1)
            on conflict (endpoint_id) do update
            set
                second = excluded.second,
                sent = case when s.second = excluded.second then s.sent + 1 else 1 end
            where s.second is null or s.second < excluded.second or (s.second = excluded.second and s.sent < $2)
            returning true
        )
        select
            exists (select from permit) as "permitted!",
            date_trunc('second', clock_timestamp()) + interval '1 second' as "next!",
            clock_timestamp() as "now!"
        "#,
        endpoint.as_uuid(),
        i32::try_from(max_per_second).unwrap_or(i32::MAX),
    )
    .fetch_one(&mut *tx)
    .await?;
    let wait = (row.next - row.now).to_std().unwrap_or_default();
    if !row.permitted {
        let lane = Lane(endpoint.as_uuid());
        lanes::pause_until(&mut tx, jobs::WEBHOOKS, lane, row.next).await?;
    }
    tx.commit().await?;
    Ok((!row.permitted).then_some(wait))
}

/// Where a test goes, and what goes with it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its site.
    pub site: SiteId,
    /// Its site's team.
    pub team: TeamId,
    /// Where it is.
    pub url: String,
    /// What its owner wants on every request.
    pub headers: Vec<CustomHeader>,
    /// What signs.
    pub secrets: SigningSecrets,
}

/// How a test went.
#[derive(Clone, Debug)]
pub struct Pinged {
    /// How it ended, in one word, as attempts do.
    pub outcome: &'static str,
    /// The answer's status.
    pub status_code: Option<u16>,
    /// The first 2 KiB of the answer, whatever its status.
    pub response_body: Option<Vec<u8>>,
    /// Why there was no answer, in words for the endpoint's owner; none if there was one.
    pub error: Option<String>,
    /// How long it took.
    pub elapsed: std::time::Duration,
}

/// An endpoint, disabled ones included; none if there is none within reach.
pub async fn target(
    conn: &mut PgConnection,
    key: &MasterKey,
    reach: Reach,
    endpoint: EndpointId,
) -> Result<Option<Target>, Error> {
    let Some(found) = crud::find(conn, Some(key), reach, endpoint).await? else {
        return Ok(None);
    };
    let secrets = site::webhook_secret::signing(conn, key, found.site).await?;
    Ok(secrets.map(|secrets| Target {
        endpoint: found.id,
        site: found.site,
        team: found.team,
        url: found.settings.url,
        headers: found.settings.headers,
        secrets,
    }))
}
