//! The names of things that records know by their ids only.

use std::collections::HashMap;

use domain::{id::TeamId, reach::Reach};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// A kind of thing that has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Members of teams, and operators.
    People,
    /// Management tokens.
    Tokens,
    /// Teams.
    Teams,
    /// Sites.
    Sites,
}

/// The names of those things among `ids` that are of these kinds and within reach.
pub async fn of(
    conn: &mut PgConnection,
    reach: Reach,
    kinds: &[Kind],
    ids: &[Uuid],
) -> Result<HashMap<Uuid, String>, Error> {
    let rows = sqlx::query!(
        r#"
        select m.id as "id!", u.name as "name!"
        from memberships m
        join users u on u.id = m.user_id
        where $3::boolean and m.id = any($1) and ($2::uuid is null or m.team_id = $2)
        union all
        select id, name
        from management_tokens
        where $4::boolean and id = any($1) and ($2::uuid is null or team_id = $2)
        union all
        select id, name
        from teams
        where $5::boolean and id = any($1) and ($2::uuid is null or id = $2)
        union all
        select id, name
        from sites
        where $6::boolean and id = any($1) and ($2::uuid is null or team_id = $2)
        "#,
        ids,
        reach.team().map(TeamId::as_uuid),
        kinds.contains(&Kind::People),
        kinds.contains(&Kind::Tokens),
        kinds.contains(&Kind::Teams),
        kinds.contains(&Kind::Sites),
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}
