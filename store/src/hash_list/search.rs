//! Searches entries by their hashes: those with the same beginning, and those that are similar.

use domain::{
    id::{HashEntryId, HashListId},
    image_hash::{HashAlgorithm, Pdq},
};
use sqlx::PgConnection;

use super::entry::{Entry, Row};
use crate::{Error, page::Page};

/// Entries of a list with a hash between these two, both included: up to `limit`, in the order of
/// hashes.
pub async fn with_hash(
    conn: &mut PgConnection,
    list: HashListId,
    algorithm: HashAlgorithm,
    (from, to): ([u8; 32], [u8; 32]),
    limit: i64,
) -> Result<Vec<Entry>, Error> {
    let rows = match algorithm {
        HashAlgorithm::Pdq => {
            sqlx::query_as!(
                Row,
                "
                select id, sha256, pdq, note, media_id, revision, added_by, added_at
                from hash_entries
                where list_id = $1 and pdq between $2 and $3 and removed_at is null
                order by pdq, sha256
                limit $4
                ",
                list.as_uuid(),
                &from[..],
                &to[..],
                limit,
            )
            .fetch_all(conn)
            .await?
        }
        HashAlgorithm::Sha256 => {
            sqlx::query_as!(
                Row,
                "
                select id, sha256, pdq, note, media_id, revision, added_by, added_at
                from hash_entries
                where list_id = $1 and sha256 between $2 and $3 and removed_at is null
                order by sha256
                limit $4
                ",
                list.as_uuid(),
                &from[..],
                &to[..],
                limit,
            )
            .fetch_all(conn)
            .await?
        }
    };
    rows.into_iter().map(Entry::try_from).collect()
}

/// How many entries are compared for one part of a search for similar ones.
pub const COMPARED: i64 = 50_000;

/// A part of the entries that are similar to a hash.
#[derive(Clone, Debug)]
pub struct Near {
    /// The entries, in the order in which they were added, with their distances.
    pub entries: Vec<(Entry, u32)>,
    /// The entry after which to go on; none: that is all.
    pub next: Option<HashEntryId>,
}

/// Entries of a list after `page.after` that differ from a hash in at most so many bits. At most
/// [`COMPARED`] entries are looked at, so there may be fewer than `page.limit`, or none, although
/// there is more.
pub async fn near(
    conn: &mut PgConnection,
    list: HashListId,
    near: Pdq,
    distance: u32,
    page: Page,
) -> Result<Near, Error> {
    let rows = sqlx::query!(
        r#"
        with compared as (
            select id, pdq
            from hash_entries
            where list_id = $1 and ($2::uuid is null or id > $2) and removed_at is null
            order by id
            limit $3
        ),
        near as (
            select id, bit_count(('x' || encode(pdq, 'hex'))::bit(256) # ('x' || $4::text)::bit(256)) as distance
            from compared
            where pdq is not null
        ),
        last as (
            select id as last_id, row_number() over (order by id) as place from compared order by id desc limit 1
        )
        select
            last.last_id as "last_id!", last.place as "place!", found.id as "id?", found.distance as "distance?",
            e.sha256 as "sha256?", e.pdq as "pdq?", e.note as "note?", e.media_id as "media_id?",
            e.revision as "revision?", e.added_by as "added_by?", e.added_at as "added_at?"
        from last
        left join (
            select id, distance from near where distance <= $5 order by id limit $6
        ) found on true
        left join hash_entries e on e.list_id = $1 and e.id = found.id
        order by found.id
        "#,
        list.as_uuid(),
        page.after,
        COMPARED,
        near.to_string(),
        i64::from(distance),
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    let walked_whole = rows.first().is_none_or(|row| row.place < COMPARED);
    let walked_to = rows.first().map(|row| HashEntryId::from(row.last_id));
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let (Some(id), Some(note), Some(revision), Some(added_at)) =
            (row.id, row.note, row.revision, row.added_at)
        else {
            continue;
        };
        let entry = Row {
            id,
            sha256: row.sha256,
            pdq: row.pdq,
            note,
            media_id: row.media_id,
            revision,
            added_by: row.added_by,
            added_at,
        };
        let distance = row.distance.unwrap_or_default();
        entries.push((entry.try_into()?, u32::try_from(distance).unwrap_or(0)));
    }
    let full = i64::try_from(entries.len()).unwrap_or(i64::MAX) >= page.limit;
    let next = match (full, walked_whole) {
        (true, _) => entries.last().map(|(entry, _): &(Entry, u32)| entry.id),
        (false, false) => walked_to,
        (false, true) => None,
    };
    Ok(Near { entries, next })
}
