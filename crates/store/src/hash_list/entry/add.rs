//! Putting entries on a list.

use domain::{
    actor::Actor,
    hash_list::EntryHashes,
    id::{ActorId, HashEntryId, HashListId, MediaId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{pdq, sha256};
use crate::{
    Error,
    hash_list::{MAX_ENTRIES, count, raise},
};

/// An entry to add.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// What a picture is recognised by.
    pub hashes: EntryHashes,
    /// What is said of it; may be empty.
    pub note: &'a str,
    /// The item whose image it is.
    pub media: Option<MediaId>,
}

/// The result of adding an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addition {
    /// It is on the list now.
    Added(HashEntryId),
    /// It was on the list already.
    There(HashEntryId),
    /// The team's lists have [`MAX_ENTRIES`].
    Full,
}

/// Adds an entry to a list. Run it in a transaction that has locked the list.
pub async fn add(
    conn: &mut PgConnection,
    list: HashListId,
    new: NewEntry<'_>,
    by: Actor,
) -> Result<Addition, Error> {
    if let Some(there) = find_same(conn, list, new.hashes).await? {
        return Ok(Addition::There(there));
    }
    let Some(raised) = raise(conn, list).await? else {
        return Ok(Addition::Full);
    };
    if raised.entries >= MAX_ENTRIES {
        return Ok(Addition::Full);
    }
    let id = HashEntryId::from(Uuid::now_v7());
    insert(conn, list, raised.revision, &[(id, new)], by.id()).await?;
    count(conn, list, 1).await?;
    Ok(Addition::Added(id))
}

/// Adds the entries that are not on the list yet, and returns how many. The caller has locked the
/// list by raising it to this revision.
pub(crate) async fn insert(
    conn: &mut PgConnection,
    list: HashListId,
    revision: i64,
    new: &[(HashEntryId, NewEntry<'_>)],
    by: Option<ActorId>,
) -> Result<u64, sqlx::Error> {
    let ids: Vec<Uuid> = new.iter().map(|(id, _)| id.as_uuid()).collect();
    let sha256: Vec<Option<Vec<u8>>> = new.iter().map(|(_, e)| sha256(e.hashes)).collect();
    let pdq: Vec<Option<Vec<u8>>> = new.iter().map(|(_, e)| pdq(e.hashes)).collect();
    let notes: Vec<&str> = new.iter().map(|(_, entry)| entry.note).collect();
    let media: Vec<Option<Uuid>> = new
        .iter()
        .map(|(_, e)| e.media.map(MediaId::as_uuid))
        .collect();
    let inserted = sqlx::query!(
        "
        insert into hash_entries (list_id, id, sha256, pdq, note, media_id, revision, added_by)
        select $1, i.id, i.sha256, i.pdq, i.note, i.media_id, $2, $3
        from unnest($4::uuid [], $5::bytea [], $6::bytea [], $7::text [], $8::uuid [])
            as i (id, sha256, pdq, note, media_id)
        on conflict (list_id, pdq, sha256) where removed_at is null do nothing
        ",
        list.as_uuid(),
        revision,
        by.map(ActorId::as_uuid),
        &ids,
        &sha256 as &[Option<Vec<u8>>],
        &pdq as &[Option<Vec<u8>>],
        &notes as &[&str],
        &media as &[Option<Uuid>],
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected())
}

async fn find_same(
    conn: &mut PgConnection,
    list: HashListId,
    hashes: EntryHashes,
) -> Result<Option<HashEntryId>, Error> {
    let found = sqlx::query_scalar!(
        "
        select id
        from hash_entries
        where
            list_id = $1 and removed_at is null
            and (pdq = $2 or $2 is null and pdq is null) and (sha256 = $3 or $3 is null and sha256 is null)
        ",
        list.as_uuid(),
        pdq(hashes),
        sha256(hashes),
    )
    .fetch_optional(conn)
    .await?;
    Ok(found.map(HashEntryId::from))
}
