//! A slice of a scan: what a job looks at, and the effect of having looked at it.

mod next_items;
mod scanned;

use domain::{
    id::{HashListId, HashScanId, MediaId, TeamId},
    image_hash::Hashed,
};
use sqlx::PgPool;

use self::next_items::{images, walk_all, walk_team};
pub use self::scanned::Scanned;
use super::LISTED;
use crate::{Error, id_time::ids_within};

/// Items of a slice: some milliseconds' work in all.
pub const SLICE: i64 = 1_000;

/// The next slice.
#[derive(Debug)]
pub struct Slice {
    /// The scan.
    pub scan: HashScanId,
    /// The list.
    pub list: HashListId,
    /// Only entries with a newer revision; none: all.
    pub since_revision: Option<i64>,
    /// The images, the newest first.
    pub images: Vec<(MediaId, Hashed)>,
    team: Option<TeamId>,
    /// How many more matches may be listed.
    room: usize,
    /// Where it begins: after this item,
    from: Option<MediaId>,
    /// and where it ends: with this one.
    to: Option<MediaId>,
    /// Whether it is the last one.
    last: bool,
}

/// Loads the next slice; none if the scan has ended.
pub async fn next(pool: &PgPool, scan: HashScanId) -> Result<Option<Slice>, Error> {
    let row = sqlx::query!(
        "
        select list_id, team_id, since_revision, until, walked_to, listed
        from hash_scans
        where id = $1 and state = 'running'
        ",
        scan.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let (_, before) = ids_within(None, Some(row.until));
    let before = row.walked_to.map_or(before, |walked| walked.min(before));
    let walked = match row.team_id {
        Some(team) => walk_team(pool, team, before).await?,
        None => walk_all(pool, before).await?,
    };
    let from = row.walked_to.map(MediaId::from);
    Ok(Some(Slice {
        scan,
        list: row.list_id.into(),
        since_revision: row.since_revision,
        images: images(pool, &walked).await?,
        team: row.team_id.map(TeamId::from),
        room: usize::try_from(LISTED - row.listed).unwrap_or(0),
        from,
        to: walked.last().copied().map(MediaId::from).or(from),
        last: i64::try_from(walked.len()).unwrap_or(i64::MAX) < SLICE,
    }))
}
