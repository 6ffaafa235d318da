//! Disabling an endpoint, enabling it again, and trying again what waits for it.

use domain::id::EndpointId;
use sqlx::PgConnection;

use crate::{Error, endpoint::health};

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
