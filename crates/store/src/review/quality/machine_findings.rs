//! What the machine had found about items that people decided.
//!
//! Both statements look at the same items: those about which something was told in the span, the latest first. What people
//! decided is the last verdict of a person, on the desk or elsewhere.

use domain::{
    id::{RuleGroupId, RuleId, SiteId},
    rules::RuleType,
    score::Scores,
};
use serde_json::Value;
use sqlx::{PgConnection, types::Json};

use super::Span;
use crate::Error;

/// An item that people decided.
#[derive(Debug)]
pub struct Compared {
    /// Whether they rejected it.
    pub is_rejected: bool,
    /// The rule groups that had judged it.
    pub groups: Vec<RuleGroupId>,
    /// The highest score of each category; none if no provider scored it.
    pub scores: Option<Scores>,
    /// What each provider said. A provider that was asked several times is listed several times.
    pub by_provider: Vec<(String, Scores)>,
}

/// How often a rule had matched items that people decided.
#[derive(Clone, Debug)]
pub struct Matches {
    /// The rule.
    pub rule: RuleId,
    /// Its name when it matched last.
    pub name: String,
    /// Its kind; none if it is unknown to this version.
    pub kind: Option<RuleType>,
    /// How many items it had matched.
    pub matched: i64,
    /// How many of them people rejected.
    pub rejected: i64,
}

/// The items that people decided in a span, at most `most`.
pub async fn compared(
    conn: &mut PgConnection,
    span: Span,
    most: i64,
) -> Result<Vec<Compared>, Error> {
    let rows = sqlx::query!(
        r#"
        with told as (
            select media_id
            from review_opinions
            where
                team_id = $1 and said_at >= $2 and said_at < $3 and outcome = 'told' and ($4::uuid is null or site_id = $4)
            group by media_id
            order by max(said_at) desc, media_id
            limit $5
        )
        select
            p.status = 'rejected' as "is_rejected!",
            array(select distinct v.rule_group_id from rule_group_versions v where v.id = any(m.group_versions)) as "groups!",
            a.scores as "scores: Json<Scores>",
            (
                select json_agg(json_build_array(r.report ->> 'provider', r.report -> 'scores'))
                from json_array_elements(a.providers) r (report)
            ) as "providers: Json<Vec<(String, Scores)>>"
        from told t
        join media m on m.id = t.media_id
        cross join lateral (
            select status
            from verdicts
            where media_id = m.id and moderation_type = 'manual'
            order by number desc
            limit 1
        ) p
        left join analyses a on a.media_id = m.id
        "#,
        span.team.as_uuid(),
        span.from,
        span.to,
        span.site.map(SiteId::as_uuid),
        most,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Compared {
            is_rejected: row.is_rejected,
            groups: row.groups.into_iter().map(RuleGroupId::from).collect(),
            scores: row.scores.map(|scores| scores.0),
            by_provider: row.providers.map(|reports| reports.0).unwrap_or_default(),
        })
        .collect())
}

/// The rules that had matched the items that people decided in a span, at most `most` items and `rules` rules, those first that
/// matched most often.
pub async fn matches(
    conn: &mut PgConnection,
    span: Span,
    most: i64,
    rules: i64,
) -> Result<Vec<Matches>, Error> {
    let rows = sqlx::query!(
        r#"
        with told as (
            select media_id
            from review_opinions
            where
                team_id = $1 and said_at >= $2 and said_at < $3 and outcome = 'told' and ($4::uuid is null or site_id = $4)
            group by media_id
            order by max(said_at) desc, media_id
            limit $5
        )
        select
            r.rule_id as "rule_id!",
            (array_agg(r.name order by t.media_id desc))[1] as "name!",
            (array_agg(r.kind order by t.media_id desc))[1] as "kind!",
            count(*) as "matched!",
            count(*) filter (where p.status = 'rejected') as "rejected!"
        from told t
        cross join lateral (
            select number, status
            from verdicts
            where media_id = t.media_id and moderation_type = 'manual'
            order by number desc
            limit 1
        ) p
        cross join lateral (
            select details
            from verdicts
            where media_id = t.media_id and moderation_type in ('ai', 'rule') and number < p.number
            order by number desc
            limit 1
        ) machine
        cross join lateral (
            select distinct on (violation ->> 'rule_id')
                (violation ->> 'rule_id')::uuid as rule_id,
                coalesce(violation ->> 'rule_name', '') as name,
                coalesce(violation ->> 'rule_type', '') as kind
            from json_array_elements(machine.details -> 'rule_violations') as violation
            where violation ->> 'rule_id' is not null
            order by violation ->> 'rule_id'
            limit 50
        ) r
        group by r.rule_id
        order by 4 desc, 1
        limit $6
        "#,
        span.team.as_uuid(),
        span.from,
        span.to,
        span.site.map(SiteId::as_uuid),
        most,
        rules,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Matches {
            rule: row.rule_id.into(),
            name: row.name,
            kind: serde_json::from_value(Value::String(row.kind)).ok(),
            matched: row.matched,
            rejected: row.rejected,
        })
        .collect())
}
