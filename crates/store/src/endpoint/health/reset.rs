//! Resets the health of an endpoint: forgets what was known of it, so that it starts as a new one.

use domain::id::EndpointId;
use queue::lanes;
use sqlx::PgConnection;

use super::lane;
use crate::{Error, jobs};

/// Forgets an endpoint's health, because its owner changed the endpoint. The pause that its health
/// caused ends too. A longer pause with another cause stays.
pub(crate) async fn forget(conn: &mut PgConnection, endpoint: EndpointId) -> Result<(), Error> {
    let known = sqlx::query!(
        r#"
        delete from webhook_endpoint_states
        where endpoint_id = $1
        returning greatest(open_until, probe_until, second + interval '1 second') as paused_until
        "#,
        endpoint.as_uuid()
    )
    .fetch_optional(&mut *conn)
    .await?;
    if let Some(until) = known.and_then(|known| known.paused_until) {
        lanes::resume_before(conn, jobs::WEBHOOKS, lane(endpoint), until).await?;
    }
    Ok(())
}

/// How many waiting deliveries become due at once. With more, others would wait for their locks.
const HASTENED: u32 = 10_000;

/// Treats an endpoint as new: its health is forgotten, and deliveries that wait for their next
/// attempt are due now. Returns how many deliveries that are. Wake the queue after the commit.
pub(crate) async fn start_afresh(
    conn: &mut PgConnection,
    endpoint: EndpointId,
) -> Result<u64, Error> {
    forget(conn, endpoint).await?;
    let hastened = lanes::hasten(conn, jobs::WEBHOOKS, lane(endpoint), HASTENED).await?;
    if hastened == 0 {
        // A repeated call reads no deliveries.
        return Ok(0);
    }
    // Locked deliveries are being sent. Their worker sets their next time.
    sqlx::query!(
        "
        update deliveries
        set next_attempt_at = now()
        where id in (
            select id
            from deliveries
            where
                state = 'pending' and next_attempt_at > now()
                and id in (select id from deliveries where endpoint_id = $1 order by id desc limit $2)
            for update skip locked
        )
        ",
        endpoint.as_uuid(),
        i64::from(HASTENED),
    )
    .execute(conn)
    .await?;
    Ok(hastened)
}
