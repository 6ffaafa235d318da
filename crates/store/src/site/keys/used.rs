//! When keys were last used, as far as the counts of their requests tell.

use chrono::{DateTime, Utc};
use domain::id::{SiteId, SiteKeyId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// The minutes in which requests of these keys of a site were last counted. A key that was never used has none.
pub async fn last_used(
    conn: &mut PgConnection,
    site: SiteId,
    keys: &[SiteKeyId],
) -> Result<Vec<(SiteKeyId, DateTime<Utc>)>, Error> {
    let keys: Vec<Uuid> = keys.iter().map(|key| key.as_uuid()).collect();
    let used = sqlx::query!(
        r#"
        select k.id, max(w.minute) as "minute!"
        from site_keys k
        join rate_windows w on w.site_key_id = k.id
        where k.site_id = $1 and k.id = any($2)
        group by k.id
        "#,
        site.as_uuid(),
        &keys,
    )
    .fetch_all(conn)
    .await?;
    Ok(used
        .into_iter()
        .map(|row| (row.id.into(), row.minute))
        .collect())
}
