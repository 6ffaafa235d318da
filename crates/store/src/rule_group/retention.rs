//! Removes versions that nothing refers to, when they have not been live for long enough.
//!
//! A version stays if it is live, if it is its group's shadow or newest version, if a backtest
//! names it, or if an item is judged by it. Items name their versions, but versions do not name
//! their items: writing to versions would cost every submission. So each version is looked at once,
//! when it is old. Only items that were accepted while it was live can name it: its publications
//! show when that was, whichever binary stored the item. The index of a site's items by time finds
//! these items.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::TeamId;
use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{Error, batches::Pace, id_time::ids_within};

/// Versions that one run looks at, at most.
const VERSIONS: usize = 200;

/// A version that may be removed.
struct Old {
    id: Uuid,
    group: Uuid,
    team: Uuid,
    created_at: DateTime<Utc>,
    /// When it became live for the first time; none: never.
    since: Option<DateTime<Utc>>,
    /// When another version followed it for the last time.
    until: Option<DateTime<Utc>>,
}

/// Removes unused versions that were neither made nor live within `age`, and returns how many.
/// Other processes may do the same at the same time: a version that one of them looks at is locked,
/// and skipped.
pub(crate) async fn forget_unused(pool: &PgPool, age: Duration) -> Result<u64, Error> {
    let mut removed = 0;
    let mut after = (DateTime::UNIX_EPOCH, Uuid::nil());
    for _ in 0..VERSIONS {
        let begun = Instant::now();
        let mut tx = pool.begin().await?;
        let Some(old) = next(&mut tx, age, after).await? else {
            break;
        };
        after = (old.created_at, old.id);
        if is_pinned(&mut tx, &old).await? {
            keep(&mut tx, &old).await?;
        } else if lock_group(&mut tx, &old).await? && remove(&mut tx, &old).await? {
            removed += 1;
        }
        tx.commit().await?;
        Pace::Gentle.pause(begun).await;
    }
    Ok(removed)
}

/// The next version that was neither made nor live within `age`, and that nothing but items can
/// refer to.
async fn next(
    conn: &mut PgConnection,
    age: Duration,
    after: (DateTime<Utc>, Uuid),
) -> Result<Option<Old>, sqlx::Error> {
    sqlx::query_as!(
        Old,
        r#"
        select v.id, v.rule_group_id as "group", g.team_id as team, v.created_at, live.since, live.until
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        cross join lateral (
            select
                min(p.published_at) as since,
                max(
                    coalesce(
                        (
                            select n.published_at
                            from rule_group_publications n
                            where n.rule_group_id = p.rule_group_id and n.published_at > p.published_at
                            order by n.published_at
                            limit 1
                        ),
                        now()
                    )
                ) as until
            from rule_group_publications p
            where p.version_id = v.id
        ) live
        where
            v.kept is null
            and v.created_at <= now() - $1::float8 * interval '1 second'
            and (v.created_at, v.id) > ($2, $3)
            and v.id <> g.live_version_id
            and v.id is distinct from g.shadow_version_id
            and (live.until is null or live.until <= now() - $1::float8 * interval '1 second')
            and not exists (select from backtests b where b.version_id = v.id)
            -- Its number must not be given again.
            and exists (
                select from rule_group_versions newer
                where newer.rule_group_id = v.rule_group_id and newer.number > v.number
            )
        order by v.created_at, v.id
        limit 1
        for no key update of v skip locked
        "#,
        age.as_secs_f64(),
        after.0,
        after.1,
    )
    .fetch_optional(conn)
    .await
}

/// Marks a version as kept. It is not looked at again.
async fn keep(conn: &mut PgConnection, old: &Old) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update rule_group_versions set kept = true where id = $1",
        old.id
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Items that one statement looks through,
const SLICE: i64 = 5_000;

/// and all statements about one version. A version that was live for more items stays.
const ITEMS: i64 = 100_000;

/// Publishing may take this long from the time that is recorded to its commit.
const COMMIT: TimeDelta = TimeDelta::hours(1);

/// Whether an item is judged by it. Also true if finding out takes too long.
async fn is_pinned(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
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

/// Publishing a version or making it a shadow holds this lock. Then the version is looked at
/// another time.
async fn lock_group(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query_scalar!(
        "select id from rule_groups where id = $1 for no key update skip locked",
        old.group
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Removes it with its place in the group's history, unless something has begun to refer to it.
async fn remove(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let is_free = sqlx::query_scalar!(
        r#"
        select
            g.live_version_id <> $2 and g.shadow_version_id is distinct from $2
            and not exists (select from backtests b where b.version_id = $2)
            and not exists (
                select from rule_group_publications p
                where p.version_id = $2 and ($3::timestamptz is null or p.published_at >= $3)
            ) as "is_free!"
        from rule_groups g
        where g.id = $1
        "#,
        old.group,
        old.id,
        old.until,
    )
    .fetch_one(&mut *conn)
    .await?;
    if !is_free {
        return Ok(false);
    }
    sqlx::query!(
        "
        with
        publications as (delete from rule_group_publications where version_id = $1),
        counts as (delete from shadow_counts where version_id = $1),
        differences as (delete from shadow_differences where version_id = $1)
        delete from rule_group_versions where id = $1
        ",
        old.id,
    )
    .execute(conn)
    .await?;
    Ok(true)
}

#[cfg(test)]
mod tests;
