//! `gatehouse admin rotate-master-key`.

use std::io::Write as _;

use serde_json::{Value, json};
use sqlx::PgConnection;
use store::{encryption::MasterKey, key_rotation};

use crate::service;

/// Secrets in one transaction. It locks their sites for a moment.
const BATCH: u32 = 500;

/// Seals everything with the first key, reports progress on stderr, and retires the other keys.
pub(super) async fn rotate(conn: &mut PgConnection, key: &MasterKey) -> anyhow::Result<Value> {
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
