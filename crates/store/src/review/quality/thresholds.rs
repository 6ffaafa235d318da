//! The rules of a team's live versions that compare a score with a threshold.

use domain::{
    id::{RuleGroupId, RuleId, TeamId},
    score::Category,
};
use sqlx::PgConnection;

use crate::Error;

/// Versions that take more bytes than this in the database are not looked through.
const LONGEST: i32 = 256 << 10;

/// A rule of a live version, as it stands there.
#[derive(Clone, Debug)]
pub struct ThresholdRule {
    /// Its group.
    pub group: RuleGroupId,
    /// The group's name.
    pub group_name: String,
    /// The rule.
    pub rule: RuleId,
    /// Its name.
    pub name: String,
    /// What it looks for.
    pub category: Category,
    /// With this score or a higher one, a person must look.
    pub review_at: Option<f64>,
    /// With this score or a higher one, it is rejected.
    pub reject_at: Option<f64>,
}

/// The enabled rules of this kind of a team, at most `most`. Rules of large versions are left out ([`left_out`]).
pub async fn thresholds(
    conn: &mut PgConnection,
    team: TeamId,
    most: i64,
) -> Result<Vec<ThresholdRule>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            g.id as group_id, g.name as group_name, (r.rule ->> 'id')::uuid as "rule_id!", r.rule ->> 'name' as "name!",
            r.rule ->> 'category' as "category!", (r.rule ->> 'review_at')::float8 as review_at,
            (r.rule ->> 'reject_at')::float8 as reject_at
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        cross join json_array_elements(case when pg_column_size(v.rules) <= $2 then v.rules end) with ordinality as r (rule, place)
        where
            g.team_id = $1 and g.disabled_at is null and r.rule ->> 'type' = 'ai_threshold'
            and coalesce((r.rule ->> 'enabled')::boolean, true)
        order by g.id, r.place
        limit $3
        "#,
        team.as_uuid(),
        LONGEST,
        most,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(ThresholdRule {
                group: row.group_id.into(),
                group_name: row.group_name,
                rule: row.rule_id.into(),
                name: row.name,
                category: row.category.parse()?,
                review_at: row.review_at,
                reject_at: row.reject_at,
            })
        })
        .collect()
}

/// How many groups have too large a live version to look through.
pub async fn left_out(conn: &mut PgConnection, team: TeamId) -> Result<i64, Error> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        where g.team_id = $1 and g.disabled_at is null and pg_column_size(v.rules) > $2
        "#,
        team.as_uuid(),
        LONGEST,
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}
