//! Replacing the master key: every value that an older key has sealed is sealed again, a batch at a
//! time, while the service runs. Each value names its key, so the work can continue after an
//! interruption.

mod reencryption;

use domain::audit::Action;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use self::reencryption::{endpoints, factors, sites};
use crate::{
    Error,
    audit::{self, Entry},
    encryption::{CHECK_OWNER, KEY_ID, MasterKey},
    erasure,
};

/// How many values are sealed with other keys than the current one: secrets of sites, headers of
/// endpoints, second factors, the key that signs certificates.
pub async fn left(conn: &mut PgConnection, key: &MasterKey) -> Result<u64, Error> {
    let left = sqlx::query_scalar!(
        r#"
        select
            (
                select count(*)
                from sites
                where substr(webhook_secret, 1, 4) <> $1 or substr(next_webhook_secret, 1, 4) <> $1
            )
            + (select count(*) from webhook_endpoints where substr(headers, 1, 4) <> $1)
            + (select count(*) from factors where substr(secret, 1, 4) <> $1)
            + (select count(*) from signing_keys where substr(sealed, 1, 4) <> $1) as "left!"
        "#,
        key.mark(),
    )
    .fetch_one(conn)
    .await?;
    Ok(left.cast_unsigned())
}

/// Seals the values of up to `limit` rows again, in one transaction, and returns how many rows that
/// were. 0: nothing is left.
///
/// # Errors
/// [`Error::Unreadable`], naming the site or endpoint, for a secret that none of the keys opens.
pub async fn reseal(conn: &mut PgConnection, key: &MasterKey, limit: u32) -> Result<u64, Error> {
    let mut tx = conn.begin().await?;
    let mut resealed = sites(&mut tx, key, limit).await?;
    if resealed == 0 {
        resealed = endpoints(&mut tx, key, limit).await?;
    }
    if resealed == 0 {
        resealed = factors(&mut tx, key, limit).await?;
    }
    if resealed == 0 {
        resealed = erasure::key_anew(&mut tx, key).await?;
    }
    tx.commit().await?;
    Ok(resealed)
}

/// Retires the older keys if nothing is sealed with them any more. From then on, processes that
/// have only older keys refuse to start. Returns whether they are retired. The first time is
/// recorded in the audit log.
pub async fn retire_older(conn: &mut PgConnection, key: &MasterKey) -> Result<bool, Error> {
    let mut tx = conn.begin().await?;
    let sealed = sqlx::query_scalar!("select sealed from master_key_check for update")
        .fetch_one(&mut *tx)
        .await?;
    key.open(CHECK_OWNER, &sealed)?;
    if left(&mut tx, key).await? > 0 {
        return Ok(false);
    }
    if sealed[..KEY_ID] != *key.mark() {
        sqlx::query!(
            "update master_key_check set sealed = $1",
            key.seal(CHECK_OWNER, CHECK_OWNER.as_bytes()),
        )
        .execute(&mut *tx)
        .await?;
        record(&mut tx, &sealed[..KEY_ID], key).await?;
    }
    tx.commit().await?;
    Ok(true)
}

async fn record(conn: &mut PgConnection, from: &[u8], key: &MasterKey) -> Result<(), Error> {
    let entry = Entry {
        actor: domain::actor::Actor::CommandLine,
        action: Action::MasterKeyRotate,
        team: None,
        target: None,
        details: &json!({ "from": hex::encode(from), "to": key.id().to_string() }),
        request_id: None,
    };
    audit::record(conn, entry).await
}

#[cfg(test)]
mod tests;
