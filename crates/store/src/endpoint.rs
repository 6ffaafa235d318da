//! Webhook endpoints: where a site's events go, and each endpoint's delivery health.

pub mod crud;
mod headers;
pub(crate) mod health;
mod label;
mod rate_limit;
mod test_send;

use domain::{
    event::EventKind,
    id::{EndpointId, SiteId},
};
use sqlx::PgConnection;
use uuid::Uuid;

pub(crate) use self::headers::{headers_owner, open_headers};
pub use self::{
    health::{Probe, take_probe},
    label::{Label, labels},
    rate_limit::permit,
    test_send::{Pinged, Target, target},
};
use crate::{Error, plan::limit};

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
