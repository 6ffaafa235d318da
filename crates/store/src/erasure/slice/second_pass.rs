//! The second phase, when the events are gone: what was added to the items meanwhile is removed. Items without a verdict are deleted.

use domain::id::ErasureId;
use sqlx::PgConnection;
use uuid::Uuid;

use super::SLICE;

/// Some items of which the first phase is done.
pub(super) async fn items(
    conn: &mut PgConnection,
    erasure: ErasureId,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "select media_id from erased_items where erasure_id = $1 order by media_id limit $2",
        erasure.as_uuid(),
        SLICE,
    )
    .fetch_all(conn)
    .await
}

/// Ends the first phase. The second one waits for the transactions that run now.
pub(super) async fn settle(conn: &mut PgConnection, erasure: ErasureId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update erasures set phase = 'again', again_after = pg_current_xact_id(), settled_at = clock_timestamp() where id = $1",
        erasure.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends the second phase.
pub(super) async fn close(conn: &mut PgConnection, erasure: ErasureId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update erasures set phase = 'certify' where id = $1",
        erasure.as_uuid()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// What work may have added that had begun before. `$1` are the ids of items.
const ADDED: [&str; 6] = [
    "delete from media_images where media_id = any($1)",
    "delete from analyses where media_id = any($1)",
    "delete from analysis_parts where media_id = any($1)",
    "delete from analysis_image_parts where media_id = any($1)",
    "delete from analysis_pieces where media_id = any($1)",
    "delete from image_matches where media_id = any($1)",
];

pub(super) async fn remove(
    conn: &mut PgConnection,
    erasure: ErasureId,
    items: &[Uuid],
) -> Result<(), sqlx::Error> {
    for statement in ADDED {
        sqlx::query(statement)
            .bind(items)
            .execute(&mut *conn)
            .await?;
    }
    sqlx::query!(
        "delete from media where id = any($1) and verdict is null and erased_at is not null",
        items,
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from erased_items where erasure_id = $1 and media_id = any($2)",
        erasure.as_uuid(),
        items,
    )
    .execute(conn)
    .await?;
    Ok(())
}
