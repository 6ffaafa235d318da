//! What a version has said in the shadow so far.

use chrono::{DateTime, Utc};
use domain::{
    id::{GroupVersionId, MediaId},
    media::Status,
};
use sqlx::PgConnection;

use crate::{Error, page::Page};

/// How many items had this result, both live and in the shadow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Where they went.
    pub live: Status,
    /// Where they would have gone.
    pub shadow: Status,
    /// Whether a rule of the shadow asked for a score that was not there.
    pub unscored: bool,
    /// How many they are.
    pub items: i64,
}

/// An item about which a shadow differed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The item.
    pub media: MediaId,
    /// Where it went.
    pub live: Status,
    /// Where it would have gone.
    pub shadow: Status,
    /// When.
    pub judged_at: DateTime<Utc>,
}

/// What a version said in the shadow so far.
pub async fn counts(conn: &mut PgConnection, version: GroupVersionId) -> Result<Vec<Count>, Error> {
    let rows = sqlx::query!(
        r#"
        select live_status, shadow_status, unscored, sum(items)::bigint as "items!"
        from shadow_counts
        where version_id = $1
        group by live_status, shadow_status, unscored
        order by live_status, shadow_status, unscored
        "#,
        version.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Count {
                live: row.live_status.parse()?,
                shadow: row.shadow_status.parse()?,
                unscored: row.unscored,
                items: row.items,
            })
        })
        .collect()
}

/// The items about which a version differed in the shadow, the newest first.
pub async fn differences(
    conn: &mut PgConnection,
    version: GroupVersionId,
    page: Page,
) -> Result<Vec<Difference>, Error> {
    let rows = sqlx::query!(
        "
        select media_id, live_status, shadow_status, judged_at
        from shadow_differences
        where version_id = $1 and ($2::uuid is null or media_id < $2)
        order by media_id desc
        limit $3
        ",
        version.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Difference {
                media: row.media_id.into(),
                live: row.live_status.parse()?,
                shadow: row.shadow_status.parse()?,
                judged_at: row.judged_at,
            })
        })
        .collect()
}
