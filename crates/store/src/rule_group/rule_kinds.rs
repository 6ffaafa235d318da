//! Of which kinds some rules of live versions are.

use std::collections::HashMap;

use domain::{
    id::{RuleGroupId, RuleId, TeamId},
    rules::RuleType,
};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// Versions that take more bytes than this in the database are not looked through.
const LONGEST: i32 = 32 << 10;

/// The kinds of these rules, if they are in the live versions of these groups of a team. It is missing for rules of large
/// versions: reading those would cost more than it is worth.
pub async fn kinds(
    conn: &mut PgConnection,
    team: TeamId,
    groups: &[RuleGroupId],
    rules: &[RuleId],
) -> Result<HashMap<RuleId, RuleType>, Error> {
    let groups: Vec<Uuid> = groups.iter().map(|group| group.as_uuid()).collect();
    let rules: Vec<Uuid> = rules.iter().map(|rule| rule.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select (r.rule ->> 'id')::uuid as "id!", r.rule ->> 'type' as "kind!"
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        cross join json_array_elements(case when pg_column_size(v.rules) <= $4 then v.rules end) as r (rule)
        where g.id = any($1) and g.team_id = $2 and (r.rule ->> 'id')::uuid = any($3)
        "#,
        &groups,
        team.as_uuid(),
        &rules,
        LONGEST,
    )
    .fetch_all(conn)
    .await?;
    let known = rows.into_iter().filter_map(|row| {
        let kind = serde_json::from_value(Value::String(row.kind)).ok()?;
        Some((row.id.into(), kind))
    });
    Ok(known.collect())
}
