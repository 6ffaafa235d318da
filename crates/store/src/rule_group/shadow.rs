//! Shadows: versions that judge beside the live one, without effect. Their answers are counted with
//! the verdicts of their group, and differences are kept for a while.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use domain::{
    id::{GroupVersionId, MediaId, RuleGroupId},
    media::Status,
};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{
    Error,
    batches::{self, Pace, ROWS},
    page::Page,
};

/// What a shadow said about an item.
#[derive(Clone, Copy, Debug)]
pub struct Shadowed {
    /// The shadow.
    pub version: GroupVersionId,
    /// Where the item would have gone.
    pub status: Status,
    /// Whether a rule of the shadow asked for a score that was not there.
    pub unscored: bool,
}

/// What a shadow said about an item whose verdict is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared {
    pub(crate) media: MediaId,
    /// Where the item went.
    pub(crate) live: Status,
    pub(crate) shadowed: Shadowed,
}

/// Lets a version of a group judge in the shadow, or none. Run it in a transaction that has locked
/// the group.
pub async fn set(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: Option<GroupVersionId>,
) -> Result<(), Error> {
    sqlx::query!(
        "update rule_groups set shadow_version_id = $2 where id = $1",
        group.as_uuid(),
        version.map(GroupVersionId::as_uuid),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Counts what shadows said, and keeps where they differed.
pub(crate) async fn record(
    conn: &mut PgConnection,
    compared: &[Compared],
) -> Result<(), sqlx::Error> {
    if compared.is_empty() {
        return Ok(());
    }
    count(conn, compared).await?;
    let different: Vec<&Compared> = compared
        .iter()
        .filter(|compared| compared.live != compared.shadowed.status)
        .collect();
    if different.is_empty() {
        return Ok(());
    }
    keep(conn, &different).await
}

async fn count(conn: &mut PgConnection, compared: &[Compared]) -> Result<(), sqlx::Error> {
    // In the order of the key, so that two transactions lock the same counts in the same order.
    let mut counts: BTreeMap<(Uuid, &str, &str, bool), i64> = BTreeMap::new();
    for Compared { live, shadowed, .. } in compared {
        let Shadowed {
            version,
            status,
            unscored,
        } = shadowed;
        let key = (version.as_uuid(), live.as_str(), status.as_str(), *unscored);
        *counts.entry(key).or_default() += 1;
    }
    let versions: Vec<Uuid> = counts.keys().map(|key| key.0).collect();
    let live: Vec<&str> = counts.keys().map(|key| key.1).collect();
    let shadow: Vec<&str> = counts.keys().map(|key| key.2).collect();
    let unscored: Vec<bool> = counts.keys().map(|key| key.3).collect();
    let items: Vec<i64> = counts.values().copied().collect();
    // Each process writes verdicts over a connection of its own, so each nearly always has its own
    // rows.
    sqlx::query!(
        "
        insert into shadow_counts as c (version_id, slot, live_status, shadow_status, unscored, items)
        select version_id, pg_backend_pid() % 32, live_status, shadow_status, unscored, items
        from unnest($1::uuid [], $2::text [], $3::text [], $4::boolean [], $5::bigint [])
            with ordinality as i (version_id, live_status, shadow_status, unscored, items, place)
        order by place
        on conflict (version_id, slot, live_status, shadow_status, unscored)
        do update set items = c.items + excluded.items
        ",
        &versions,
        &live as &[&str],
        &shadow as &[&str],
        &unscored,
        &items,
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn keep(conn: &mut PgConnection, different: &[&Compared]) -> Result<(), sqlx::Error> {
    let versions: Vec<Uuid> = different
        .iter()
        .map(|compared| compared.shadowed.version.as_uuid())
        .collect();
    let media: Vec<Uuid> = different.iter().map(|c| c.media.as_uuid()).collect();
    let live: Vec<&str> = different.iter().map(|c| c.live.as_str()).collect();
    let shadow: Vec<&str> = different
        .iter()
        .map(|compared| compared.shadowed.status.as_str())
        .collect();
    sqlx::query!(
        "
        insert into shadow_differences (version_id, media_id, live_status, shadow_status)
        select * from unnest($1::uuid [], $2::uuid [], $3::text [], $4::text [])
        on conflict (version_id, media_id) do nothing
        ",
        &versions,
        &media,
        &live as &[&str],
        &shadow as &[&str],
    )
    .execute(conn)
    .await?;
    Ok(())
}

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

/// How long differences are kept.
pub const KEPT: Duration = Duration::from_hours(30 * 24);

/// Forgets differences that are older than [`KEPT`], and says how many.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_some(pool)).await?)
}

async fn forget_some(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let changed = sqlx::query!(
        "
        delete from shadow_differences
        where ctid = any(
            array(
                select ctid from shadow_differences
                where judged_at <= now() - $1::float8 * interval '1 second'
                limit $2
                for update skip locked
            )
        )
        ",
        KEPT.as_secs_f64(),
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}
