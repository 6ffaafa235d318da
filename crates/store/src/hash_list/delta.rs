//! Lists for workers, which hold them in memory: which lists there are, and what changed since a
//! revision.

use std::sync::Arc;

use domain::{
    hash_list::EntryHashes,
    id::{HashEntryId, HashListId, TeamId},
    image_hash::ListKind,
};
use sqlx::PgPool;
use uuid::Uuid;

use super::entry::stored;
use crate::{
    Error,
    gather::{Bounds, Loader},
};

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

/// The state of a list, for workers that hold it in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The list.
    pub list: HashListId,
    /// What an entry means.
    pub kind: ListKind,
    /// The most bits in which the PDQ of a picture that is on it may differ.
    pub max_distance: u32,
    /// Counts the changes of its entries.
    pub revision: i64,
    /// A process that knows only an older revision than this may have missed removals.
    pub swept_revision: i64,
}

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 256,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads the lists with entries that teams may use: their own and the shared ones.
pub fn loader(pool: PgPool) -> Loader<TeamId, Arc<[Head]>> {
    Loader::start(pool, "hash lists", BOUNDS, |pool, teams| async move {
        let heads = heads(&pool, &teams).await?;
        let of = |team: TeamId| -> Arc<[Head]> {
            let usable = heads.iter();
            let usable = usable.filter(|(of, _)| of.is_none_or(|of| of == team));
            usable.map(|(_, head)| *head).collect()
        };
        Ok(teams.into_iter().map(|team| (team, of(team))).collect())
    })
}

/// The lists with entries of these teams, and, without a team, the shared ones.
async fn heads(pool: &PgPool, teams: &[TeamId]) -> Result<Vec<(Option<TeamId>, Head)>, Error> {
    let teams: Vec<Uuid> = teams.iter().map(|team| team.as_uuid()).collect();
    let rows = sqlx::query!(
        "
        select id, team_id, kind, max_distance, revision, swept_revision
        from hash_lists
        where (team_id = any($1) or team_id is null) and entries > 0 and deleted_at is null
        order by id
        ",
        &teams,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let head = Head {
                list: row.id.into(),
                kind: row.kind.parse()?,
                max_distance: u32::try_from(row.max_distance).unwrap_or(0),
                revision: row.revision,
                swept_revision: row.swept_revision,
            };
            Ok((row.team_id.map(TeamId::from), head))
        })
        .collect()
}

/// A list of any team, for workers that hold it in memory; none if it was deleted.
pub async fn head(pool: &PgPool, list: HashListId) -> Result<Option<Head>, Error> {
    let row = sqlx::query!(
        "
        select id, kind, max_distance, revision, swept_revision
        from hash_lists
        where id = $1 and deleted_at is null
        ",
        list.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        Ok(Head {
            list: row.id.into(),
            kind: row.kind.parse()?,
            max_distance: u32::try_from(row.max_distance).unwrap_or(0),
            revision: row.revision,
            swept_revision: row.swept_revision,
        })
    })
    .transpose()
}
