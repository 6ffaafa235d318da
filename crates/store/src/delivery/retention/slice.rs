//! Removing some old events, with their deliveries and attempts.

use domain::id::DeliveryId;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Site;

/// Returns how many events and deliveries were removed.
pub(super) async fn forget_slice(
    conn: &mut PgConnection,
    site: &Site,
    events: &[Uuid],
) -> Result<u64, sqlx::Error> {
    let deliveries = events.iter().flat_map(|event| {
        let endpoints = site.endpoints.iter();
        endpoints.map(|endpoint| DeliveryId::of((*event).into(), (*endpoint).into()).as_uuid())
    });
    let deliveries: Vec<Uuid> = deliveries.collect();
    let ended = forget_deliveries(conn, &deliveries, site.days).await?;
    forget_attempts(conn, &ended).await?;
    let told = forget_events(conn, events, &deliveries).await?;
    Ok(told + ended.len() as u64)
}

/// Removes the old ones of the deliveries, and returns their ids.
async fn forget_deliveries(
    conn: &mut PgConnection,
    deliveries: &[Uuid],
    days: i32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        delete from deliveries
        where id = any($1) and state <> 'pending' and ended_at <= now() - make_interval(days => $2)
        returning id
        ",
        deliveries,
        days,
    )
    .fetch_all(conn)
    .await
}

async fn forget_attempts(conn: &mut PgConnection, deliveries: &[Uuid]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from delivery_attempts where delivery_id = any($1)",
        deliveries
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes the events that have no deliveries left, and returns how many.
async fn forget_events(
    conn: &mut PgConnection,
    events: &[Uuid],
    deliveries: &[Uuid],
) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query!(
        "
        delete from events
        where id = any($1) and id not in (select event_id from deliveries where id = any($2))
        ",
        events,
        deliveries,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}
