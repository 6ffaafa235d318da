//! Taking an entry off a list. Its row stays for a while, so that workers that hold the list in
//! memory see the removal.

use std::time::Duration;

use domain::id::{HashEntryId, HashListId};
use sqlx::PgConnection;

use crate::{
    Error,
    hash_list::{count, raise},
};

/// How long a removed entry is remembered.
pub const REMEMBERED: Duration = Duration::from_hours(7 * 24);

/// Removes an entry from a list. False: it is not on the list. Run it in a transaction that has
/// locked the list.
pub async fn remove(
    conn: &mut PgConnection,
    list: HashListId,
    entry: HashEntryId,
) -> Result<bool, Error> {
    let Some(raised) = raise(conn, list).await? else {
        return Ok(false);
    };
    let removed = sqlx::query!(
        "
        update hash_entries
        set removed_at = clock_timestamp(), revision = $3
        where list_id = $1 and id = $2 and removed_at is null
        ",
        list.as_uuid(),
        entry.as_uuid(),
        raised.revision,
    )
    .execute(&mut *conn)
    .await?;
    if removed.rows_affected() == 0 {
        return Ok(false);
    }
    count(conn, list, -1).await?;
    Ok(true)
}
