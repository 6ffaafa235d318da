//! Lists for workers, which hold them in memory: which lists there are, and what changed since a
//! revision.

mod revisions;

use domain::{
    hash_list::EntryHashes,
    id::{HashEntryId, HashListId},
};
use sqlx::PgPool;
use uuid::Uuid;

pub use self::revisions::{Head, head, loader};
use super::entry::stored;
use crate::Error;

/// What changed on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The revision that changed it.
    pub revision: i64,
    /// The entry.
    pub entry: HashEntryId,
    /// What a picture is recognised by.
    pub hashes: EntryHashes,
    /// True if it was added, false if it was removed.
    pub stands: bool,
}

/// A place in the changes of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    revision: i64,
    entry: Uuid,
}

impl Default for Place {
    /// Before all changes.
    fn default() -> Self {
        Self::after_revision(0)
    }
}

impl Place {
    /// The place after all changes up to this revision; 0 is before the first change.
    pub const fn after_revision(revision: i64) -> Self {
        let entry = Uuid::max();
        Self { revision, entry }
    }

    /// After this change.
    pub const fn after(change: &Changed) -> Self {
        Self {
            revision: change.revision,
            entry: change.entry.as_uuid(),
        }
    }
}

/// What changed on a list after a place, up to a revision: at most `limit` changes, the oldest
/// first.
pub async fn changes(
    pool: &PgPool,
    list: HashListId,
    after: Place,
    until: i64,
    limit: i64,
) -> Result<Vec<Changed>, Error> {
    let rows = sqlx::query!(
        r#"
        select revision, id, sha256, pdq, removed_at is null as "stands!"
        from hash_entries
        where list_id = $1 and (revision, id) > ($2, $3) and revision <= $4
        order by revision, id
        limit $5
        "#,
        list.as_uuid(),
        after.revision,
        after.entry,
        until,
        limit,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Changed {
                revision: row.revision,
                entry: row.id.into(),
                hashes: stored(row.sha256, row.pdq)?,
                stands: row.stands,
            })
        })
        .collect()
}
