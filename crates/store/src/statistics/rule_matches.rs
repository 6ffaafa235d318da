//! How often each rule of a group matched.

use std::collections::HashMap;

use chrono::NaiveDate;
use domain::id::{RuleGroupId, RuleId, TeamId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// How often the rules of a group matched in a team since a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupMatches {
    /// Items in whose machine verdict a rule is listed.
    pub rules: HashMap<RuleId, i64>,
    /// Whether all matches are counted by rule. Otherwise, the rules may have matched more often than `rules` says.
    pub is_complete: bool,
}

/// How often the rules of a group matched in a team since the beginning of this day (UTC). A day has at most 200 rules and a
/// row for the others, so the cost depends on the days only.
pub async fn of_group(
    conn: &mut PgConnection,
    team: TeamId,
    group: RuleGroupId,
    since: NaiveDate,
) -> Result<GroupMatches, Error> {
    let rows = sqlx::query!(
        r#"
        select rule_id, sum(matches)::bigint as "matches!"
        from statistics_rules
        where subject_id = $1 and day >= $2 and (rule_group_id = $3 or rule_id = $4)
        group by rule_id
        "#,
        team.as_uuid(),
        since,
        group.as_uuid(),
        Uuid::nil(),
    )
    .fetch_all(&mut *conn)
    .await?;
    let has_history = sqlx::query_scalar!(
        r#"select not exists (select from statistics_backfill) as "has_history!""#
    )
    .fetch_one(conn)
    .await?;
    let mut rules: HashMap<RuleId, i64> = rows
        .into_iter()
        .map(|row| (row.rule_id.into(), row.matches))
        .collect();
    let others = rules.remove(&Uuid::nil().into()).unwrap_or(0);
    Ok(GroupMatches {
        rules,
        is_complete: has_history && others == 0,
    })
}
