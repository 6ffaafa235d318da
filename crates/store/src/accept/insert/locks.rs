//! Rows of usage that somebody else has locked for longer than a batch takes.

use domain::id::TeamId;
use sqlx::PgConnection;
use uuid::Uuid;

/// Whether a statement has waited too long for a lock. SQLSTATE 55P03, `lock_not_available`.
pub(crate) fn is_locked_out(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code == "55P03")
}

/// Those of these teams of whose usage a row is locked now.
pub(crate) async fn locked(
    conn: &mut PgConnection,
    teams: &[TeamId],
) -> Result<Vec<TeamId>, sqlx::Error> {
    let teams: Vec<Uuid> = teams.iter().map(|team| team.as_uuid()).collect();
    let locked = sqlx::query_scalar!(
        "
        with free as materialized (
            select team_id, period_start from usage where team_id = any($1) for no key update skip locked
        )
        select distinct u.team_id
        from usage u
        where u.team_id = any($1) and (u.team_id, u.period_start) not in (select team_id, period_start from free)
        ",
        &teams,
    )
    .fetch_all(conn)
    .await?;
    Ok(locked.into_iter().map(TeamId::from).collect())
}
