//! What a scan has found so far.

use domain::{
    id::{HashEntryId, HashScanId, MediaId},
    image_hash::HashAlgorithm,
    media::Status,
};
use sqlx::PgConnection;

use crate::{Error, page::Page};

/// An item whose image is on the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The item.
    pub media: MediaId,
    /// Its state now.
    pub status: Status,
    /// The nearest entry.
    pub entry: HashEntryId,
    /// The kind of hash that the entry is.
    pub algorithm: HashAlgorithm,
    /// In how many bits image and entry differ.
    pub distance: u32,
}

/// What a scan found, the newest items first.
pub async fn matches(
    conn: &mut PgConnection,
    scan: HashScanId,
    page: Page,
) -> Result<Vec<Match>, Error> {
    let rows = sqlx::query!(
        "
        select f.media_id, m.status, f.entry_id, f.algorithm, f.distance
        from hash_scan_matches f
        join media m on m.id = f.media_id
        where f.scan_id = $1 and ($2::uuid is null or f.media_id < $2)
        order by f.media_id desc
        limit $3
        ",
        scan.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Match {
                media: row.media_id.into(),
                status: row.status.parse()?,
                entry: row.entry_id.into(),
                algorithm: row.algorithm.parse()?,
                distance: u32::try_from(row.distance).unwrap_or(0),
            })
        })
        .collect()
}
