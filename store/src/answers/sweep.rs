//! Answers that are too old are removed, and those of sites that keep none. Nobody uses them in the meantime either. (Triggers remove
//! those of items that are deleted or lose their texts.)

use domain::id::SiteId;
use sqlx::{PgConnection, PgPool};

use crate::Error;

/// Rows of one statement, which holds no lock for long.
const ROWS: i64 = 5_000;

/// Removes what is too old, and returns how many answers that were. Others may do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let rows = sqlx::query!(
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
        .await?
        .rows_affected();
        removed += rows;
        if rows == 0 {
            return Ok(removed);
        }
    }
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
