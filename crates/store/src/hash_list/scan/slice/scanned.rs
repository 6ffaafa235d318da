//! The matches of a slice, and their effect.

use domain::{
    id::{HashListId, HashScanId, MediaId, TeamId},
    image_hash::HashMatch,
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Slice;
use crate::{
    chain::{self, End, Step},
    hash_list::{matches, scan::Scan},
    jobs,
};

/// The effect of a slice: what it found is stored, and the next one is enqueued.
#[derive(Debug)]
pub struct Scanned {
    scan: HashScanId,
    list: HashListId,
    team: Option<TeamId>,
    from: Option<MediaId>,
    to: Option<MediaId>,
    last: bool,
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
            from: slice.from,
            to: slice.to,
            last: slice.last,
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
        let step = Step {
            from: self.from.map(MediaId::as_uuid),
            to: self.to.map(MediaId::as_uuid),
            end: End::of(self.last),
        };
        if !chain::advance::<Scan>(conn, self.scan.as_uuid(), step).await? {
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
            if !effect.last {
                tx.jobs
                    .push(jobs::scan(effect.scan, effect.list, effect.team));
            }
        }
        Ok(())
    }
}
