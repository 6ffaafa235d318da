//! Which lists the rules of a team may name.

use std::collections::BTreeSet;

use domain::id::{HashListId, TeamId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// Which of these lists rules of the team may name.
pub async fn usable(
    conn: &mut PgConnection,
    team: TeamId,
    lists: &BTreeSet<HashListId>,
) -> Result<Vec<HashListId>, Error> {
    let lists: Vec<Uuid> = lists.iter().map(|list| list.as_uuid()).collect();
    let usable = sqlx::query_scalar!(
        "
        select id
        from hash_lists
        where id = any($2) and (team_id = $1 or team_id is null) and deleted_at is null
        ",
        team.as_uuid(),
        &lists,
    )
    .fetch_all(conn)
    .await?;
    Ok(usable.into_iter().map(HashListId::from).collect())
}

/// The same, and locks them, so that none is deleted before the transaction ends.
pub async fn hold_usable(
    conn: &mut PgConnection,
    team: TeamId,
    lists: &BTreeSet<HashListId>,
) -> Result<Vec<HashListId>, Error> {
    let lists: Vec<Uuid> = lists.iter().map(|list| list.as_uuid()).collect();
    let usable = sqlx::query_scalar!(
        "
        select id
        from hash_lists
        where id = any($2) and (team_id = $1 or team_id is null) and deleted_at is null
        order by id
        for key share
        ",
        team.as_uuid(),
        &lists,
    )
    .fetch_all(conn)
    .await?;
    Ok(usable.into_iter().map(HashListId::from).collect())
}
