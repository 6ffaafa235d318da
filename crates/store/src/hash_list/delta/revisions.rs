//! Which lists there are, and the revision of each.

use std::sync::Arc;

use domain::{
    id::{HashListId, TeamId},
    image_hash::ListKind,
};
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    Error,
    gather::{Bounds, Loader},
};

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
