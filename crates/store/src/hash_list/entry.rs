//! The entries of a list. An entry has one hash or both hashes of one picture. A removed entry
//! stays for a while as a row that says so. A process that holds the list in memory sees the
//! removal when it asks for newer rows.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    hash_list::EntryHashes,
    id::{ActorId, HashEntryId, HashListId, MediaId},
    image_hash::{Pdq, Sha256Digest},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::matches::bytes;
use crate::{
    Error,
    hash_list::{MAX_ENTRIES, count, raise},
    page::Page,
};

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The entry.
    pub id: HashEntryId,
    /// What a picture is recognised by.
    pub hashes: EntryHashes,
    /// What was said of it; may be empty.
    pub note: String,
    /// The item whose image it is, if it was added from one.
    pub media: Option<MediaId>,
    /// The list's revision that added it.
    pub revision: i64,
    /// Who did it.
    pub added_by: Option<ActorId>,
    /// When.
    pub added_at: DateTime<Utc>,
}

fn sha256(hashes: EntryHashes) -> Option<Vec<u8>> {
    hashes.sha256().map(|hash| hash.as_bytes().to_vec())
}

fn pdq(hashes: EntryHashes) -> Option<Vec<u8>> {
    hashes.pdq().map(|hash| hash.as_bytes().to_vec())
}

/// Hashes as they are stored.
pub(super) fn stored(sha256: Option<Vec<u8>>, pdq: Option<Vec<u8>>) -> Result<EntryHashes, Error> {
    let (sha256, pdq) = (bytes(sha256)?, bytes(pdq)?);
    let hashes = EntryHashes::new(sha256.map(Sha256Digest::from), pdq.map(Pdq::from));
    hashes.ok_or_else(|| Error::Unreadable("an entry of a hash list has no hash".to_owned()))
}

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) sha256: Option<Vec<u8>>,
    pub(super) pdq: Option<Vec<u8>>,
    pub(super) note: String,
    pub(super) media_id: Option<Uuid>,
    pub(super) revision: i64,
    pub(super) added_by: Option<Uuid>,
    pub(super) added_at: DateTime<Utc>,
}

impl TryFrom<Row> for Entry {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            hashes: stored(row.sha256, row.pdq)?,
            note: row.note,
            media: row.media_id.map(MediaId::from),
            revision: row.revision,
            added_by: row.added_by.map(ActorId::from),
            added_at: row.added_at,
        })
    }
}

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

/// The entries that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query_as!(
            Row,
            "
        select id, sha256, pdq, note, media_id, revision, added_by, added_at
        from hash_entries
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(Entry::try_from)
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// An entry of a list; none if it is not on the list.
pub async fn find(
    conn: &mut PgConnection,
    list: HashListId,
    entry: HashEntryId,
) -> Result<Option<Entry>, Error> {
    let found = select!(
        conn,
        "list_id = $1 and id = $2 and removed_at is null",
        list.as_uuid(),
        entry.as_uuid()
    );
    Ok(found?.pop())
}

/// The entries of a list, in the order in which they were added.
pub async fn list(
    conn: &mut PgConnection,
    list: HashListId,
    page: Page,
) -> Result<Vec<Entry>, Error> {
    select!(
        conn,
        "list_id = $1 and ($2::uuid is null or id > $2) and removed_at is null
        order by id
        limit $3",
        list.as_uuid(),
        page.after,
        page.limit
    )
}
