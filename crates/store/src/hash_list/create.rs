//! Creating a list.

use domain::{
    actor::Actor,
    id::{HashListId, TeamId},
    image_hash::ListKind,
    plan::Limit,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{NAME_KEY, distance};
use crate::{Error, plan::limit};

/// The most shared lists. The number of a team's own lists is limited by its plan.
pub const MAX_SHARED: i64 = 100;

/// A list to be created.
#[derive(Clone, Copy, Debug)]
pub struct NewHashList<'a> {
    /// Its team; none: it is shared.
    pub team: Option<TeamId>,
    /// What it is called.
    pub name: &'a str,
    /// Its description; may be empty.
    pub description: &'a str,
    /// What an entry means.
    pub kind: ListKind,
    /// The most bits in which the PDQ of a picture that is on it may differ, up to 31.
    pub max_distance: u32,
    /// Who did it.
    pub by: Actor,
}

/// Creates an empty list; none if it would be a shared list and there are [`MAX_SHARED`] already.
/// Run it in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create(
    conn: &mut PgConnection,
    new: NewHashList<'_>,
) -> Result<Option<HashListId>, Error> {
    if let Some(team) = new.team {
        limit::require(conn, team, Limit::HashLists).await?;
    }
    let id = HashListId::from(Uuid::now_v7());
    let created = sqlx::query!(
        "
        insert into hash_lists (id, team_id, name, description, kind, max_distance, created_by)
        select $1, $2, $3, $4, $5, $6, $7
        where $2::uuid is not null or (select count(*) from hash_lists where team_id is null and deleted_at is null) < $8
        ",
        id.as_uuid(),
        new.team.map(TeamId::as_uuid),
        new.name,
        new.description,
        new.kind.as_str(),
        distance(new.max_distance),
        new.by.as_uuid(),
        MAX_SHARED,
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok((created.rows_affected() > 0).then_some(id))
}
