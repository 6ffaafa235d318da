//! What the policies, people and sites of a team are called, those included that are gone.

use std::collections::HashMap;

use domain::id::{ActorId, ReviewPolicyId, SiteId, TeamId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// What a policy is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyName {
    /// What programs call it.
    pub code: String,
    /// What people read.
    pub name: String,
}

/// The names of these policies.
pub async fn named_policies(
    conn: &mut PgConnection,
    team: TeamId,
    policies: &[ReviewPolicyId],
) -> Result<HashMap<ReviewPolicyId, PolicyName>, Error> {
    let policies: Vec<Uuid> = policies.iter().map(|policy| policy.as_uuid()).collect();
    let rows = sqlx::query!(
        "select id, code, name from review_policies where team_id = $1 and id = any($2)",
        team.as_uuid(),
        &policies,
    )
    .fetch_all(conn)
    .await?;
    let named = rows.into_iter().map(|row| {
        let name = PolicyName {
            code: row.code,
            name: row.name,
        };
        (row.id.into(), name)
    });
    Ok(named.collect())
}

/// The names of these people and tokens.
pub async fn named_people(
    conn: &mut PgConnection,
    team: TeamId,
    people: &[ActorId],
) -> Result<HashMap<ActorId, String>, Error> {
    let people: Vec<Uuid> = people.iter().map(|person| person.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select m.id as "id!", u.name as "name!"
        from memberships m
        join users u on u.id = m.user_id
        where m.team_id = $1 and m.id = any($2)
        union all
        select id, name from management_tokens where team_id = $1 and id = any($2)
        "#,
        team.as_uuid(),
        &people,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.id.into(), row.name))
        .collect())
}

/// The names of these sites.
pub async fn named_sites(
    conn: &mut PgConnection,
    team: TeamId,
    sites: &[SiteId],
) -> Result<HashMap<SiteId, String>, Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    let rows = sqlx::query!(
        "select id, name from sites where team_id = $1 and id = any($2)",
        team.as_uuid(),
        &sites,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.id.into(), row.name))
        .collect())
}
