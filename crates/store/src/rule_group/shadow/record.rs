//! Counting what shadows said, in the transaction that stores the verdicts.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::{Compared, Shadowed};

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
