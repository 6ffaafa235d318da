//! How often an address tried an account and failed. Account and address are counted together, so
//! guessing does not keep the account's owner from signing in elsewhere. Codes of the second factor
//! are also counted for the account alone: who tries them has the password, and six digits do not
//! withstand guesses from many addresses.

use std::{net::IpAddr, time::Duration};

use domain::sign_in_limits::{FORGOTTEN_AFTER, Guesses, wait_after};
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection};

use super::session::seconds;
use crate::Error;

/// Whose tries are counted together: an account as it was typed, whether it exists or not, and an
/// address or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    key: [u8; 32],
    guesses: Guesses,
}

impl Pair {
    /// An account and an address.
    pub fn of(account: &str, address: IpAddr) -> Self {
        Self::new(account, &address.to_string(), Guesses::FromAddress)
    }

    /// An account and all addresses together.
    pub fn anywhere(account: &str) -> Self {
        Self::new(account, "", Guesses::FromAnywhere)
    }

    fn new(account: &str, address: &str, guesses: Guesses) -> Self {
        let hash = Sha256::new()
            .chain_update(account)
            .chain_update([0])
            .chain_update(address)
            .finalize();
        Self {
            key: hash.into(),
            guesses,
        }
    }
}

/// Counts a try before its result is known, so that many tries at the same time are counted, too. A
/// try that succeeds is forgotten. The error says how long to wait; then nothing was counted.
pub async fn count(conn: &mut PgConnection, pair: Pair) -> Result<Result<(), Duration>, Error> {
    let mut tx = conn.begin().await?;
    // One statement makes the row or locks it. Between two, a try that succeeds could delete the
    // row.
    let row = sqlx::query!(
        r#"
        insert into sign_in_failures as f (key, failures, last_at)
        values ($1, 0, now())
        on conflict (key) do update set failures = f.failures
        returning
            case when last_at > now() - make_interval(secs => $2) then failures else 0 end as "failures!",
            extract(epoch from now() - last_at)::float8 as "ago!"
        "#,
        &pair.key[..],
        seconds(FORGOTTEN_AFTER),
    )
    .fetch_one(&mut *tx)
    .await?;
    let failures = row.failures.unsigned_abs();
    let ago = Duration::try_from_secs_f64(row.ago).unwrap_or_default();
    let wait = wait_after(pair.guesses, failures).saturating_sub(ago);
    if !wait.is_zero() {
        return Ok(Err(wait));
    }
    sqlx::query!(
        "update sign_in_failures set failures = $2, last_at = now() where key = $1",
        &pair.key[..],
        i32::try_from(failures.saturating_add(1)).unwrap_or(i32::MAX),
    )
    .execute(&mut *tx)
    .await?;
    forget_old(&mut tx).await?;
    tx.commit().await?;
    Ok(Ok(()))
}

/// Forgets what was counted, because the try has succeeded.
pub async fn forget(conn: &mut PgConnection, pair: Pair) -> Result<(), Error> {
    sqlx::query!("delete from sign_in_failures where key = $1", &pair.key[..])
        .execute(conn)
        .await?;
    Ok(())
}

/// Forgets rows that are too old to count, 10 for each try. A try is counted only if it also waits
/// for a hash of a password, or has a session. So the number of rows is limited by the hashes that
/// the processes compute within a day.
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
