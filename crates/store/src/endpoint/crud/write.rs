//! Creating, changing, disabling and deleting endpoints.

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
    endpoint::{health, seal_headers},
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

/// Disables an endpoint for its owner's reason. False: it is disabled already, for another reason.
pub async fn disable(
    conn: &mut PgConnection,
    endpoint: EndpointId,
    reason: &str,
) -> Result<bool, Error> {
    let disabled = sqlx::query!(
        "
        update webhook_endpoints
        set disabled_at = now(), disabled_reason = $2
        where id = $1 and disabled_at is null
        ",
        endpoint.as_uuid(),
        reason,
    )
    .execute(conn)
    .await?;
    Ok(disabled.rows_affected() > 0)
}

/// Enables an endpoint again, as if nothing had been wrong with it. False: it is not disabled.
pub async fn enable(conn: &mut PgConnection, endpoint: EndpointId) -> Result<bool, Error> {
    let enabled = sqlx::query!(
        "
        update webhook_endpoints
        set disabled_at = null, disabled_reason = null
        where id = $1 and disabled_at is not null and deleted_at is null
        ",
        endpoint.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    let is_enabled = enabled.rows_affected() > 0;
    if is_enabled {
        health::start_afresh(conn, endpoint).await?;
    }
    Ok(is_enabled)
}

/// Makes what waits for an endpoint's next attempt due now, as if nothing had been wrong with it,
/// and returns how many deliveries that are. Wake the queue after the commit.
pub async fn retry_now(conn: &mut PgConnection, endpoint: EndpointId) -> Result<u64, Error> {
    health::start_afresh(conn, endpoint).await
}

/// How many pending deliveries are discarded in the transaction that deletes their endpoint.
/// Workers discard the others when their time comes.
const DISCARDED_AT_ONCE: i64 = 5_000;

/// Deletes an endpoint: nothing more is sent to it, what waits is discarded, and its headers are no
/// longer kept. Its deliveries can be read as before. Run it in a transaction that has locked it.
pub async fn delete(conn: &mut PgConnection, endpoint: EndpointId) -> Result<(), Error> {
    sqlx::query!(
        "
        update webhook_endpoints
        set
            deleted_at = now(),
            disabled_at = coalesce(disabled_at, now()),
            disabled_reason = coalesce(disabled_reason, 'it was deleted'),
            headers = null
        where id = $1
        ",
        endpoint.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    health::forget(conn, endpoint).await?;
    // Deliveries that are being sent stay with their worker.
    sqlx::query!(
        "
        update deliveries
        set state = 'discarded', next_attempt_at = null, ended_at = now()
        where id in (
            select id
            from deliveries
            where
                state = 'pending'
                and id in (select id from deliveries where endpoint_id = $1 order by id desc limit $2)
            for update skip locked
        )
        ",
        endpoint.as_uuid(),
        DISCARDED_AT_ONCE,
    )
    .execute(conn)
    .await?;
    Ok(())
}
