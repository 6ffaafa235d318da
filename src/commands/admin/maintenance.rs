//! What keeps an installation in order: `gatehouse admin rotate-master-key`, `remove-example-data` and `remove-expired`.

use std::{collections::BTreeMap, io::Write as _};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use sqlx::PgConnection;
use store::{
    PgPool,
    accept::Pace,
    encryption::MasterKey,
    example_data::{self, Turn},
    key_rotation, retention,
};

use crate::service;

/// Secrets in one transaction. It locks their sites for a moment.
const BATCH: u32 = 500;

/// Seals everything with the first key, reports progress on stderr, and retires the other keys.
pub(super) async fn rotate_master_key(
    conn: &mut PgConnection,
    key: &MasterKey,
) -> anyhow::Result<Value> {
    service::check_master_key(conn, key).await?;
    let mut resealed = 0;
    // A process that still uses an older key may have sealed something meanwhile. Then another
    // round follows.
    loop {
        let all = resealed + key_rotation::left(conn, key).await?;
        loop {
            match key_rotation::reseal(conn, key, BATCH).await? {
                0 => break,
                batch => resealed += batch,
            }
            writeln!(std::io::stderr(), "sealed {resealed} of {all}")?;
        }
        if key_rotation::retire_older(conn, key).await? {
            return Ok(json!({ "key_id": key.id().to_string(), "resealed": resealed }));
        }
    }
}

/// Removes the example data. It is no error if there is none.
pub(super) async fn remove_example_data(pool: &PgPool) -> anyhow::Result<Value> {
    let Some(turn) = Turn::take(pool).await? else {
        bail!(
            "another process is creating or removing the example data: try again when it has ended"
        );
    };
    let removed = example_data::remove(pool).await?;
    turn.end().await?;
    Ok(
        json!({ "team_id": example_data::TEAM, "existed": removed.existed, "removed_items": removed.items }),
    )
}

/// Removes what has expired by the settings of sites, and tells how many of each kind that were.
pub(super) async fn remove_expired(pool: &PgPool) -> anyhow::Result<Value> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    retention::forget_nothing_later(pool).await?;
    // One sweep removes a bounded part of what a site has.
    loop {
        let mut is_done = true;
        for (what, forgotten) in retention::forget_of_sites(pool, Pace::Hurried).await {
            let forgotten = forgotten.with_context(|| format!("{what} could not be removed"))?;
            *all.entry(what.replace(' ', "_")).or_default() += forgotten.removed;
            is_done &= forgotten.removed == 0 && !forgotten.has_more;
        }
        if is_done {
            return Ok(json!(all));
        }
    }
}
