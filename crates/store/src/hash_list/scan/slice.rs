//! A slice of a scan: what a job looks at, and the effect of having looked at it.

use domain::{
    id::{HashListId, HashScanId, MediaId, TeamId},
    image_hash::{HashMatch, Hashed, MIN_QUALITY, Pdq, Sha256Digest},
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::LISTED;
use crate::{
    Error,
    chain::{self, End, Step},
    hash_list::{matches, scan::Scan},
    id_time::ids_within,
    jobs,
};

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
    /// It begins after one item, and ends with another.
    step: Step<Option<Uuid>>,
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
    Ok(Some(Slice {
        scan,
        list: row.list_id.into(),
        since_revision: row.since_revision,
        images: images(pool, &walked).await?,
        team: row.team_id.map(TeamId::from),
        room: usize::try_from(LISTED - row.listed).unwrap_or(0),
        step: Step {
            from: row.walked_to,
            to: walked.last().copied().or(row.walked_to),
            end: End::of(i64::try_from(walked.len()).unwrap_or(i64::MAX) < SLICE),
        },
    }))
}

/// The next items of a team's sites.
async fn walk_team(pool: &PgPool, team: Uuid, before: Uuid) -> Result<Vec<Uuid>, Error> {
    let walked = sqlx::query_scalar!(
        r#"
        select w.id as "id!"
        from sites s
        cross join lateral (
            select m.id from media m where m.site_id = s.id and m.id < $2 order by m.id desc limit $3
        ) w
        where s.team_id = $1
        order by w.id desc
        limit $3
        "#,
        team,
        before,
        SLICE,
    )
    .fetch_all(pool)
    .await?;
    Ok(walked)
}

/// The next items with images.
async fn walk_all(pool: &PgPool, before: Uuid) -> Result<Vec<Uuid>, Error> {
    let walked = sqlx::query_scalar!(
        "select media_id from media_images where media_id < $1 order by media_id desc limit $2",
        before,
        SLICE,
    )
    .fetch_all(pool)
    .await?;
    Ok(walked)
}

/// The images of these items that have hashes, the newest first.
async fn images(pool: &PgPool, media: &[Uuid]) -> Result<Vec<(MediaId, Hashed)>, Error> {
    let rows = sqlx::query!(
        r#"
        select i.media_id, i.sha256 as "sha256!", i.pdq
        from media_images i
        -- Inline images of submissions that were refused have no item.
        join media m on m.id = i.media_id
        where i.media_id = any($1) and i.sha256 is not null
        order by i.media_id desc
        "#,
        media,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let sha256 = matches::bytes(Some(row.sha256))?.unwrap_or_default();
            let hashed = Hashed {
                sha256: Sha256Digest::from(sha256),
                pdq: matches::bytes(row.pdq)?.map(Pdq::from),
                // Hashes are stored only if their quality is sufficient.
                quality: MIN_QUALITY,
            };
            Ok((row.media_id.into(), hashed))
        })
        .collect()
}

/// The effect of a slice: what it found is stored, and the next one is enqueued.
#[derive(Debug)]
pub struct Scanned {
    scan: HashScanId,
    list: HashListId,
    team: Option<TeamId>,
    step: Step<Option<Uuid>>,
    room: usize,
    looked_at: i64,
    matches: Vec<(MediaId, HashMatch)>,
}

impl Scanned {
    /// The effect of a slice with these matches.
    pub fn new(slice: &Slice, matches: Vec<(MediaId, HashMatch)>) -> Self {
        Self {
            scan: slice.scan,
            list: slice.list,
            team: slice.team,
            step: slice.step,
            room: slice.room,
            looked_at: i64::try_from(slice.images.len()).unwrap_or(i64::MAX),
            matches,
        }
    }
}

impl Scanned {
    /// The matches, as many as may be listed.
    fn listed(&self) -> &[(MediaId, HashMatch)] {
        &self.matches[..self.matches.len().min(self.room)]
    }

    /// False: the scan was stopped, or this slice is not its next one.
    async fn advance(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        if !chain::advance::<Scan>(conn, self.scan.as_uuid(), self.step).await? {
            return Ok(false);
        }
        sqlx::query!(
            "
            update hash_scans
            set looked_at = looked_at + $2, matched = matched + $3, listed = listed + $4
            where id = $1
            ",
            self.scan.as_uuid(),
            self.looked_at,
            i64::try_from(self.matches.len()).unwrap_or(i64::MAX),
            i64::try_from(self.listed().len()).unwrap_or(i64::MAX),
        )
        .execute(conn)
        .await?;
        Ok(true)
    }

    async fn list(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        let listed = self.listed();
        let media: Vec<Uuid> = listed.iter().map(|(media, _)| media.as_uuid()).collect();
        let entries: Vec<Uuid> = listed.iter().map(|(_, m)| m.entry.as_uuid()).collect();
        let algorithms: Vec<&str> = listed.iter().map(|(_, m)| m.algorithm.as_str()).collect();
        let distances: Vec<i16> = listed
            .iter()
            .map(|(_, m)| i16::try_from(m.distance).unwrap_or(i16::MAX))
            .collect();
        sqlx::query!(
            "
            insert into hash_scan_matches (scan_id, media_id, entry_id, algorithm, distance)
            select $1, m.* from unnest($2::uuid [], $3::uuid [], $4::text [], $5::smallint []) as m
            ",
            self.scan.as_uuid(),
            &media,
            &entries,
            &algorithms as &[&str],
            &distances,
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}

impl Effect for Scanned {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect, .. } in batch {
            if !effect.advance(tx.conn).await? {
                continue;
            }
            matches::record(tx.conn, &effect.matches, Some(effect.scan)).await?;
            effect.list(tx.conn).await?;
            if effect.step.end == End::Open {
                tx.jobs
                    .push(jobs::scan(effect.scan, effect.list, effect.team));
            }
        }
        Ok(())
    }
}
