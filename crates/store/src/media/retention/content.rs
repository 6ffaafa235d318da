//! The content of items.

use sqlx::PgConnection;
use uuid::Uuid;

/// Removes the content of these items. The scores of each provider stay.
pub(super) async fn empty(conn: &mut PgConnection, items: &[Uuid]) -> Result<(), sqlx::Error> {
    for statement in [
        "update media_images set bytes = null where media_id = any($1) and bytes is not null",
        "update analyses a
         set providers = (
             select coalesce(json_agg(r.report::jsonb - 'raw' order by r.place), '[]')
             from json_array_elements(a.providers) with ordinality r(report, place)
         )
         where a.media_id = any($1) and a.providers::text like '%\"raw\"%'",
        "delete from analysis_parts where media_id = any($1)",
        "delete from analysis_image_parts where media_id = any($1)",
        "delete from analysis_pieces where media_id = any($1)",
        "delete from review_notes where media_id = any($1)",
        "update media
         set body = null, content_url = null, metadata = null, content_removed_at = now()
         where id = any($1)",
    ] {
        sqlx::query(statement)
            .bind(items)
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}
