//! The rows of the audit log about a site: about the site itself, its items, its keys and its webhook endpoints.

use sqlx::PgConnection;
use uuid::Uuid;

use super::Export;
use crate::Error;

/// A part of a walk over the team's audit log.
#[derive(Debug)]
pub struct AuditSlice {
    /// The rows about the site as lines of JSON, without line ends.
    pub lines: Vec<String>,
    /// The last row that was looked at; none if there is no further row.
    pub last: Option<Uuid>,
}

/// Looks at the team's next rows after one, at most `limit`.
pub async fn audit_slice(
    conn: &mut PgConnection,
    export: &Export,
    after: Uuid,
    limit: i64,
) -> Result<AuditSlice, Error> {
    let rows = sqlx::query!(
        r#"
        with looked_at as (
            select l.id, l.target_id
            from audit_log l
            where l.team_id = $1 and l.id > $2 and l.id < $3
            order by l.id
            limit $4
        )
        select
            a.id as "id!",
            (
                select
                    json_build_object(
                        'id', l.id,
                        'actor', l.actor,
                        'actor_id', l.actor_id,
                        'action', l.action,
                        'target_id', l.target_id,
                        'details', l.details,
                        'request_id', l.request_id,
                        'occurred_at', l.occurred_at
                    )::text
                from audit_log l
                where
                    l.id = a.id
                    and (
                        a.target_id = $5
                        or exists (select from media m where m.id = a.target_id and m.site_id = $5)
                        or exists (select from site_keys k where k.id = a.target_id and k.site_id = $5)
                        or exists (select from webhook_endpoints e where e.id = a.target_id and e.site_id = $5)
                    )
            ) as line
        from looked_at a
        order by a.id
        "#,
        export.team.as_uuid(),
        after,
        export.upto,
        limit,
        export.site.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let last = rows.last().map(|row| row.id);
    let lines = rows.into_iter().filter_map(|row| row.line);
    let lines = lines.map(|line| line.replace(['\n', '\r'], " ")).collect();
    Ok(AuditSlice { lines, last })
}
