//! Removes versions that nothing refers to, when they have not been live for long enough.
//!
//! A version stays if it is live, if it is its group's shadow or newest version, if a backtest
//! names it, or if an item is judged by it. Items name their versions, but versions do not name
//! their items: writing to versions would cost every submission. So each version is looked at once,
//! when it is old. Only items that were accepted while it was live can name it: its publications
//! show when that was, whichever binary stored the item. The index of a site's items by time finds
//! these items.

mod pinned;
mod remove;

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

use self::{
    pinned::is_pinned,
    remove::{lock_group, remove},
};
use crate::{Error, batches::Pace};

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

#[cfg(test)]
mod tests;
