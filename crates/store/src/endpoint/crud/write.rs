//! Adding an endpoint, and changing its settings.

use domain::{
    event::EventKind,
    id::{EndpointId, SiteId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Endpoint, Settings};
use crate::{
    Error,
    encryption::MasterKey,
    endpoint::{headers::seal_headers, health},
    plan::limit,
};

/// Adds an endpoint to a site. Run it in a transaction.
///
/// # Errors
/// [`Error::LimitReached`].
pub async fn add(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    site: SiteId,
    settings: &Settings,
) -> Result<EndpointId, Error> {
    limit::require_endpoint(conn, site).await?;
    let id = EndpointId::from(Uuid::now_v7());
    sqlx::query!(
        "
        insert into webhook_endpoints (id, site_id, url, events, description, max_per_second, headers)
        values ($1, $2, $3, $4, $5, $6, $7)
        ",
        id.as_uuid(),
        site.as_uuid(),
        settings.url,
        &names(&settings.events) as &[&str],
        settings.description,
        settings.max_per_second,
        seal_headers(key, id, &settings.headers)?,
    )
    .execute(conn)
    .await?;
    Ok(id)
}

/// Changes an endpoint. An endpoint that moves is as new: its health is forgotten. Run it in a
/// transaction that has locked it.
pub async fn change(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    endpoint: &Endpoint,
    settings: &Settings,
) -> Result<(), Error> {
    sqlx::query!(
        "
        update webhook_endpoints
        set url = $2, events = $3, description = $4, max_per_second = $5, headers = $6
        where id = $1
        ",
        endpoint.id.as_uuid(),
        settings.url,
        &names(&settings.events) as &[&str],
        settings.description,
        settings.max_per_second,
        seal_headers(key, endpoint.id, &settings.headers)?,
    )
    .execute(&mut *conn)
    .await?;
    if settings.url != endpoint.settings.url {
        health::start_afresh(conn, endpoint.id).await?;
    }
    Ok(())
}

fn names(events: &[EventKind]) -> Vec<&'static str> {
    events.iter().map(|event| event.as_str()).collect()
}
