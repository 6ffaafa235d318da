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
pub const COMPARED: i64 = 20_000;

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
    // The part's last entry is found first, so that the entries are compared in the order of the
    // index, and no further than to a full page. The hash is read once, and not for each entry.
    let rows = sqlx::query!(
        r#"
        with part as materialized (
            select
                (
                    select id
                    from hash_entries
                    where
                        list_id = $1 and id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
                        and removed_at is null
                    order by id
                    offset $3::bigint - 1
                    limit 1
                ) as last_id,
                ('x' || $4::text)::bit(256) as near
        )
        select
            p.last_id, f.id as "id?", f.distance as "distance?", f.sha256 as "sha256?", f.pdq as "pdq?",
            f.note as "note?", f.media_id as "media_id?", f.revision as "revision?", f.added_by as "added_by?",
            f.added_at as "added_at?"
        from part p
        left join lateral (
            select
                e.id, e.sha256, e.pdq, e.note, e.media_id, e.revision, e.added_by, e.added_at,
                bit_count(('x' || encode(e.pdq, 'hex'))::bit(256) # p.near) as distance
            from hash_entries e
            where
                e.list_id = $1 and e.id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
                and e.id <= coalesce(p.last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
                and e.removed_at is null
                and bit_count(('x' || encode(e.pdq, 'hex'))::bit(256) # p.near) <= $5
            order by e.id
            limit $6
        ) f on true
        order by f.id
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
    let end = rows.first().and_then(|row| row.last_id);
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
    let next = if full {
        entries.last().map(|(entry, _): &(Entry, u32)| entry.id)
    } else {
        end.map(HashEntryId::from)
    };
    Ok(Near { entries, next })
}
