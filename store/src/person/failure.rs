//! How often an address tried an account in vain. Account and address are counted together, so nobody who guesses keeps the
//! account's owner from signing in elsewhere.

use std::{net::IpAddr, time::Duration};

use domain::sign_in::{FORGOTTEN_AFTER, wait_after};
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection};

use super::session::seconds;
use crate::Error;

/// An account as it was named, whether it exists or not, and an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair([u8; 32]);

impl Pair {
    /// Of an account and an address.
    pub fn of(account: &str, address: IpAddr) -> Self {
        let hash = Sha256::new()
            .chain_update(account)
            .chain_update([0])
            .chain_update(address.to_string())
            .finalize();
        Self(hash.into())
    }
}

/// Counts a try before anybody knows how it ends, so that many at once are counted, too. It is forgotten when it succeeds.
/// The error says how long to wait; then nothing was counted.
pub async fn count(conn: &mut PgConnection, pair: Pair) -> Result<Result<(), Duration>, Error> {
    let mut tx = conn.begin().await?;
    sqlx::query!(
        "insert into sign_in_failures (key, failures, last_at) values ($1, 0, now()) on conflict (key) do nothing",
        &pair.0[..],
    )
    .execute(&mut *tx)
    .await?;
    let row = sqlx::query!(
        r#"
        select
            case when last_at > now() - make_interval(secs => $2) then failures else 0 end as "failures!",
            extract(epoch from now() - last_at)::float8 as "ago!"
        from sign_in_failures
        where key = $1
        for update
        "#,
        &pair.0[..],
        seconds(FORGOTTEN_AFTER),
    )
    .fetch_one(&mut *tx)
    .await?;
    let failures = row.failures.unsigned_abs();
    let ago = Duration::try_from_secs_f64(row.ago).unwrap_or_default();
    let wait = wait_after(failures).saturating_sub(ago);
    if !wait.is_zero() {
        return Ok(Err(wait));
    }
    sqlx::query!(
        "update sign_in_failures set failures = $2, last_at = now() where key = $1",
        &pair.0[..],
        i32::try_from(failures.saturating_add(1)).unwrap_or(i32::MAX),
    )
    .execute(&mut *tx)
    .await?;
    forget_old(&mut tx).await?;
    tx.commit().await?;
    Ok(Ok(()))
}

/// Forgets what was counted: the try has succeeded.
pub async fn forget(conn: &mut PgConnection, pair: Pair) -> Result<(), Error> {
    sqlx::query!("delete from sign_in_failures where key = $1", &pair.0[..])
        .execute(conn)
        .await?;
    Ok(())
}

/// Forgets what is too old to count, some at a time. Each try costs a hash of a password, which bounds how many rows there are.
async fn forget_old(conn: &mut PgConnection) -> Result<(), Error> {
    sqlx::query!(
        "
        delete from sign_in_failures
        where key in (
            select key
            from sign_in_failures
            where last_at < now() - make_interval(secs => $1)
            order by last_at
            limit 10
            for update skip locked
        )
        ",
        seconds(FORGOTTEN_AFTER),
    )
    .execute(conn)
    .await?;
    Ok(())
}
