//! Removing items with everything that belongs to them.

use sqlx::PgConnection;
use uuid::Uuid;

/// Remove items and what belongs to them, besides their events. `$1` are the ids. What people decided stays in `review_opinions`, because reports count it; so does
/// what was added up.
pub(crate) const STATEMENTS: &[&str] = &[
    "delete from media_images where media_id = any($1)",
    "delete from analyses where media_id = any($1)",
    "delete from analysis_parts where media_id = any($1)",
    "delete from analysis_image_parts where media_id = any($1)",
    "delete from analysis_pieces where media_id = any($1)",
    "delete from verdicts where media_id = any($1)",
    "delete from reviews where media_id = any($1)",
    "delete from review_tasks where media_id = any($1)",
    "delete from review_notes where media_id = any($1)",
    "delete from golden_items where media_id = any($1)",
    "delete from image_matches where media_id = any($1)",
    // Also removes the answers of providers that are kept for equal texts.
    "delete from media where id = any($1)",
];

/// Removes these items. Their events must be gone, or go in the same transaction.
pub(crate) async fn remove(conn: &mut PgConnection, items: &[Uuid]) -> Result<(), sqlx::Error> {
    for statement in STATEMENTS {
        sqlx::query(*statement)
            .bind(items)
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}
