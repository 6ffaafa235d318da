//! Whether an item is judged by a version: the items that were accepted while it was live are
//! looked through.

use chrono::TimeDelta;
use domain::id::TeamId;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Old;
use crate::id_time::ids_within;

/// Items that one statement looks through,
const SLICE: i64 = 5_000;

/// and all statements about one version. A version that was live for more items stays.
const ITEMS: i64 = 100_000;

/// Publishing may take this long from the time that is recorded to its commit.
const COMMIT: TimeDelta = TimeDelta::hours(1);

/// Whether an item is judged by it. Also true if finding out takes too long.
pub(super) async fn is_pinned(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let (Some(since), Some(until)) = (old.since, old.until) else {
        return Ok(false);
    };
    let (from, before) = ids_within(Some(since), Some(until + COMMIT));
    let mut left = ITEMS;
    for site in sites(conn, old.team.into()).await? {
        let mut from = from;
        loop {
            let slice = look_through(conn, old.id, site, from, before).await?;
            left -= slice.items;
            if slice.pinned || left <= 0 {
                return Ok(true);
            }
            match slice.last {
                // Ids are 128-bit numbers; nothing follows the greatest.
                Some(last) if slice.items == SLICE => {
                    from = Uuid::from_u128(last.as_u128().saturating_add(1));
                }
                Some(_) | None => break,
            }
        }
    }
    Ok(false)
}

async fn sites(conn: &mut PgConnection, team: TeamId) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "select id from sites where team_id = $1 order by id",
        team.as_uuid()
    )
    .fetch_all(conn)
    .await
}

/// Some items of a site.
struct Slice {
    items: i64,
    pinned: bool,
    last: Option<Uuid>,
}

async fn look_through(
    conn: &mut PgConnection,
    version: Uuid,
    site: Uuid,
    from: Uuid,
    before: Uuid,
) -> Result<Slice, sqlx::Error> {
    sqlx::query_as!(
        Slice,
        r#"
        select
            count(*) as "items!",
            coalesce(bool_or($1 = any(m.group_versions)), false) as "pinned!",
            (array_agg(m.id order by m.id desc))[1] as last
        from (
            select id, group_versions
            from media
            where site_id = $2 and id >= $3 and id < $4
            order by site_id, id
            limit $5
        ) m
        "#,
        version,
        site,
        from,
        before,
        SLICE,
    )
    .fetch_one(conn)
    .await
}
