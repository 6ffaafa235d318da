//! Removes answers that are too old, and those of sites without a cache. They are not used before
//! that either. (Triggers remove the answers about items that are deleted or lose their texts.)

use domain::id::SiteId;
use sqlx::{PgConnection, PgPool};

use crate::{
    Error,
    batches::{self, Pace, ROWS},
};

/// Removes answers that are too old, and returns how many. Other processes may do the same at the
/// same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_some(pool)).await?)
}

async fn forget_some(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let changed = sqlx::query!(
        "
        delete from cached_answers
        where ctid = any(
            array(
                select o.ctid
                from sites s
                cross join lateral (
                    select a.ctid
                    from cached_answers a
                    where
                        a.site_id = s.id
                        and a.created_at <= coalesce(
                            clock_timestamp() - make_interval(secs => s.answer_cache_seconds), 'infinity'
                        )
                    order by a.created_at
                    limit $1
                    for update skip locked
                ) as o
                limit $1
            )
        )
        ",
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}

/// Removes all answers of a site.
pub(crate) async fn forget_of_site(
    conn: &mut PgConnection,
    site: SiteId,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from cached_answers where site_id = $1",
        site.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
