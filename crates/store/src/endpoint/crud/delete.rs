//! Deleting an endpoint. Its deliveries stay.

use domain::id::EndpointId;
use sqlx::PgConnection;

use crate::{Error, endpoint::health};

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
