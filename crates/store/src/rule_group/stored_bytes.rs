//! How many bytes of rules a team has stored recently.

use domain::id::TeamId;
use sqlx::PgConnection;

use crate::Error;

/// Bytes of rules that a team has stored within the last 24 hours, in versions and backtests, as
/// they lie on disk.
pub async fn stored_of_late(conn: &mut PgConnection, team: TeamId) -> Result<i64, Error> {
    let bytes = sqlx::query_scalar!(
        r#"
        select
            (
                select coalesce(sum(pg_column_size(v.rules)), 0)
                from rule_group_versions v
                join rule_groups g on g.id = v.rule_group_id
                where v.kept is null and v.created_at > now() - interval '24 hours' and g.team_id = $1
            ) + (
                select coalesce(sum(pg_column_size(b.rules)), 0)
                from backtests b
                where b.created_at > now() - interval '24 hours' and b.team_id = $1
            ) as "bytes!"
        "#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(bytes)
}
