//! Calling in the shares of other processes, and giving back what is unspent.

use sqlx::PgPool;
use uuid::Uuid;

use super::signed;
use crate::{
    Error,
    rate_limit::{Holder, Limited},
};

/// Tells the processes that hold shares to give back what is unspent: a message for each window.
pub(crate) async fn call_in(
    pool: &PgPool,
    channel: &str,
    messages: &[String],
) -> Result<(), Error> {
    sqlx::query!(
        "select pg_notify($1, message) from unnest($2::text []) as m (message)",
        channel,
        messages,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Gives back what is unspent of a share, unless its minute is over; from now on this process holds
/// nothing of it.
pub(crate) async fn give_back(
    pool: &PgPool,
    holder: Uuid,
    (whose, policy): Limited,
    unspent: u32,
) -> Result<(), Error> {
    let (key, team) = match whose {
        Holder::Key(key) => (Some(key), None),
        Holder::Team(team) => (None, Some(team.as_uuid())),
    };
    sqlx::query!(
        "
        update rate_windows
        set given = given - $4, holders = array_remove(holders, $3)
        where
            site_key_id = coalesce($5, (select id from site_keys where hash = $1))
            and policy = $2
            and $3 = any(holders)
            and minute = date_trunc('minute', clock_timestamp(), 'utc')
        ",
        key.as_ref().map(|key| &key.as_bytes()[..]),
        policy.as_str(),
        holder,
        signed(unspent),
        team,
    )
    .execute(pool)
    .await?;
    Ok(())
}
