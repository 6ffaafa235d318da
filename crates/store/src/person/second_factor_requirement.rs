//! Who needs a second factor: by the role, and by the team's setting.

use domain::{
    id::{TeamId, UserId},
    role::Role,
};
use sqlx::PgConnection;

use crate::Error;

/// Whether everybody in the team must have a second factor.
pub async fn requires_factor(conn: &mut PgConnection, team: TeamId) -> Result<bool, Error> {
    let required = sqlx::query_scalar!(
        "select factor_required from teams where id = $1",
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(required)
}

/// Whether a person needs a second factor because of any of the roles or teams.
pub async fn needs_factor(conn: &mut PgConnection, user: UserId) -> Result<bool, Error> {
    let roles: Vec<&str> = Role::ALL
        .iter()
        .filter(|role| role.requires_factor())
        .map(|role| role.as_str())
        .collect();
    let needs = sqlx::query_scalar!(
        r#"
        select exists (
            select
            from memberships m
            left join teams t on t.id = m.team_id
            where m.user_id = $1 and m.disabled_at is null and (m.role = any($2) or t.factor_required)
        ) as "needs!"
        "#,
        user.as_uuid(),
        &roles as &[&str],
    )
    .fetch_one(conn)
    .await?;
    Ok(needs)
}

/// Changes whether everybody in the team must have a second factor.
pub async fn require_factor(
    conn: &mut PgConnection,
    team: TeamId,
    required: bool,
) -> Result<(), Error> {
    sqlx::query!(
        "update teams set factor_required = $2 where id = $1",
        team.as_uuid(),
        required,
    )
    .execute(conn)
    .await?;
    Ok(())
}
