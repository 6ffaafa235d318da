//! Which pictures are on which lists: one row per picture and list, with the nearest entry. Judging
//! reads these rows, so it needs no list. Matches stay even when the list is deleted.

use std::collections::HashMap;

use domain::{
    hash_list::EntryHashes,
    id::{HashScanId, MediaId, TeamId},
    image_hash::{HashMatch, Pdq, Sha256Digest},
    reach::Reach,
};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::Error;

/// Stores matches that are not known yet. `scan` is what found them; none: they were found before
/// the items were judged.
pub async fn record(
    conn: &mut PgConnection,
    matches: &[(MediaId, HashMatch)],
    scan: Option<HashScanId>,
) -> Result<(), sqlx::Error> {
    if matches.is_empty() {
        return Ok(());
    }
    let media: Vec<Uuid> = matches.iter().map(|(media, _)| media.as_uuid()).collect();
    let lists: Vec<Uuid> = matches.iter().map(|(_, m)| m.list.as_uuid()).collect();
    let kinds: Vec<&str> = matches.iter().map(|(_, m)| m.kind.as_str()).collect();
    let entries: Vec<Uuid> = matches.iter().map(|(_, m)| m.entry.as_uuid()).collect();
    let algorithms: Vec<&str> = matches.iter().map(|(_, m)| m.algorithm.as_str()).collect();
    let distances: Vec<i16> = matches
        .iter()
        .map(|(_, m)| i16::try_from(m.distance).unwrap_or(i16::MAX))
        .collect();
    sqlx::query!(
        "
        insert into image_matches (media_id, list_id, kind, entry_id, algorithm, distance, scan_id)
        select m.*, $7
        from unnest($1::uuid [], $2::uuid [], $3::text [], $4::uuid [], $5::text [], $6::smallint [])
        as m (media_id, list_id, kind, entry_id, algorithm, distance)
        join media i on i.id = m.media_id and i.erased_at is null
        on conflict (media_id, list_id) do nothing
        ",
        &media,
        &lists,
        &kinds as &[&str],
        &entries,
        &algorithms as &[&str],
        &distances,
        scan.map(HashScanId::as_uuid),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The matches of items, by item; those without any are not in it.
pub async fn of(
    pool: &PgPool,
    media: &[MediaId],
) -> Result<HashMap<MediaId, Vec<HashMatch>>, Error> {
    if media.is_empty() {
        return Ok(HashMap::new());
    }
    let media: Vec<Uuid> = media.iter().map(|media| media.as_uuid()).collect();
    let rows = sqlx::query!(
        "
        select media_id, list_id, kind, entry_id, algorithm, distance
        from image_matches
        where media_id = any($1)
        order by media_id, list_id
        ",
        &media,
    )
    .fetch_all(pool)
    .await?;
    let mut matches: HashMap<MediaId, Vec<HashMatch>> = HashMap::new();
    for row in rows {
        let found = HashMatch {
            list: row.list_id.into(),
            kind: row.kind.parse()?,
            entry: row.entry_id.into(),
            algorithm: row.algorithm.parse()?,
            distance: u32::try_from(row.distance).unwrap_or(0),
        };
        matches.entry(row.media_id.into()).or_default().push(found);
    }
    Ok(matches)
}

/// What an item's image is recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageHashes {
    /// The item's team.
    pub team: TeamId,
    /// None: the item has no image, or it was never hashed.
    pub hashes: Option<EntryHashes>,
}

/// What an item's image is recognised by; none if there is no such item within reach.
pub async fn hashes_of(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<ImageHashes>, Error> {
    let row = sqlx::query!(
        r#"
        select m.team_id, i.sha256 as "sha256?", i.pdq as "pdq?"
        from media m
        left join media_images i on i.media_id = m.id
        where m.id = $1 and ($2::uuid is null or m.team_id = $2)
        "#,
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        let hashes = EntryHashes::new(
            bytes(row.sha256)?.map(Sha256Digest::from),
            bytes(row.pdq)?.map(Pdq::from),
        );
        Ok(ImageHashes {
            team: row.team_id.into(),
            hashes,
        })
    })
    .transpose()
}

/// A hash as it is stored.
pub(super) fn bytes(stored: Option<Vec<u8>>) -> Result<Option<[u8; 32]>, Error> {
    let bytes = stored.map(<[u8; 32]>::try_from).transpose();
    bytes.map_err(|_| Error::Unreadable("a stored hash does not have 32 bytes".to_owned()))
}
