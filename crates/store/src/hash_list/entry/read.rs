//! Reading entries: one, or those of a list.

use domain::id::{HashEntryId, HashListId};
use sqlx::PgConnection;

use super::{Entry, Row};
use crate::{Error, page::Page};

/// An entry of a list; none if it is not on the list.
pub async fn find(
    conn: &mut PgConnection,
    list: HashListId,
    entry: HashEntryId,
) -> Result<Option<Entry>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select id, sha256, pdq, note, media_id, revision, added_by, added_at
        from hash_entries
        where list_id = $1 and id = $2 and removed_at is null
        ",
        list.as_uuid(),
        entry.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Entry::try_from).transpose()
}

/// The entries of a list, in the order in which they were added.
pub async fn list(
    conn: &mut PgConnection,
    list: HashListId,
    page: Page,
) -> Result<Vec<Entry>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select id, sha256, pdq, note, media_id, revision, added_by, added_at
        from hash_entries
        where list_id = $1 and ($2::uuid is null or id > $2) and removed_at is null
        order by id
        limit $3
        ",
        list.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Entry::try_from).collect()
}
