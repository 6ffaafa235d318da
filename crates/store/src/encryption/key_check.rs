//! Whether a master key is the one that the database's secrets are sealed with.

use sqlx::PgConnection;

use super::MasterKey;
use crate::Error;

/// The owner of the sealed value that tells later processes whether they have the right key.
pub(crate) const CHECK_OWNER: &str = "master_key_check";

/// Whether this is the key that the database's secrets are sealed with. The first process on a new
/// database stores the sealed value that later processes check.
///
/// # Errors
/// [`Error::Unreadable`] if another key was used before.
pub async fn check_master_key(conn: &mut PgConnection, key: &MasterKey) -> Result<(), Error> {
    let sealed = key.seal(CHECK_OWNER, CHECK_OWNER.as_bytes());
    sqlx::query!(
        "insert into master_key_check (sealed) values ($1) on conflict do nothing",
        sealed
    )
    .execute(&mut *conn)
    .await?;
    // A statement of its own: it sees the row even when another process made it a moment ago.
    let sealed = sqlx::query_scalar!("select sealed from master_key_check")
        .fetch_one(conn)
        .await?;
    key.open(CHECK_OWNER, &sealed)?;
    Ok(())
}
