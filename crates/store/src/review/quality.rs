//! What the reports of the desk are calculated from: what people said, what waits, what the machine had found, and what things
//! are called.

mod machine_findings;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, ReviewPolicyId, RuleGroupId, RuleId, SiteId, TeamId},
    media::{Ruling, Status},
    review::{Outcome, ReviewKind, Severity, Tier},
    score::Category,
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::machine_findings::{Compared, Matches, compared, matches};
use crate::{Error, review::tier};

/// What a report is about.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The team.
    pub team: TeamId,
    /// Only this site. None: all sites of the team.
    pub site: Option<SiteId>,
    /// From this time on.
    pub from: DateTime<Utc>,
    /// Before this time.
    pub to: DateTime<Utc>,
}

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

/// What a person said, and what became of it.
#[derive(Clone, Debug)]
pub struct Opinion {
    /// Why the person was asked.
    pub kind: ReviewKind,
    /// Who was asked.
    pub tier: Tier,
    /// The person.
    pub by: ActorId,
    /// What the person said.
    pub ruling: Ruling,
    /// By which policy.
    pub policy: Option<ReviewPolicyId>,
    /// The most severe policy that was suggested.
    pub suggested: Option<ReviewPolicyId>,
    /// The item's status when the person looked.
    pub seen: Status,
    /// How urgent the review was.
    pub severity: Severity,
    /// Since when the review waited.
    pub waiting_since: DateTime<Utc>,
    /// When it should have been decided.
    pub due_at: DateTime<Utc>,
    /// When the person said it.
    pub said_at: DateTime<Utc>,
    /// What became of it.
    pub outcome: Outcome,
    /// What somebody had said before: in the same review, or, of an audit and an appeal, what was told before.
    pub first: Option<First>,
    /// Whether it was told, and somebody then decided otherwise on the item's page, outside of reviews.
    pub is_overturned_elsewhere: bool,
}

/// What somebody had said before.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// What.
    pub ruling: Ruling,
    /// By which policy.
    pub policy: Option<ReviewPolicyId>,
}

/// What people of a team said in a span, the latest first, at most `most`. What can still be undone is left out.
pub async fn opinions(
    conn: &mut PgConnection,
    span: Span,
    most: i64,
) -> Result<Vec<Opinion>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            o.kind, o.tier, o.actor_id, o.ruling, o.policy_id, o.suggested_id, o.seen_status, o.severity, o.waiting_since, o.due_at,
            o.said_at,
            o.outcome as "outcome!",
            b.ruling as "first_ruling?",
            b.policy_id as first_policy_id,
            o.outcome = 'told' and exists (
                select
                from verdicts v
                where
                    v.media_id = o.media_id and v.number = o.seen_verdict + 2 and v.moderation_type = 'manual'
                    and v.trace -> 'review' is null
            ) as "is_overturned_elsewhere!"
        from review_opinions o
        left join lateral (
            select e.ruling, e.policy_id
            from review_opinions e
            where
                e.media_id = o.media_id and e.id < o.id and o.kind <> 'golden'
                and case o.kind
                    when 'review' then e.task_id = o.task_id and e.tier = 1 and e.outcome in ('told', 'agreed', 'disagreed')
                    else e.outcome = 'told'
                end
            order by e.id desc
            limit 1
        ) b on true
        where
            o.team_id = $1 and o.said_at >= $2 and o.said_at < $3 and o.outcome is not null
            and ($4::uuid is null or o.site_id = $4)
        order by o.said_at desc
        limit $5
        "#,
        span.team.as_uuid(),
        span.from,
        span.to,
        span.site.map(SiteId::as_uuid),
        most,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let first = row.first_ruling.map(|ruling| -> Result<First, Error> {
                Ok(First {
                    ruling: ruling.parse()?,
                    policy: row.first_policy_id.map(ReviewPolicyId::from),
                })
            });
            let severity = Severity::of_number(row.severity);
            Ok(Opinion {
                kind: row.kind.parse()?,
                tier: tier(row.tier)?,
                by: row.actor_id.into(),
                ruling: row.ruling.parse()?,
                policy: row.policy_id.map(ReviewPolicyId::from),
                suggested: row.suggested_id.map(ReviewPolicyId::from),
                seen: row.seen_status.parse()?,
                severity: severity.ok_or_else(|| {
                    Error::Unreadable(format!("an opinion has the severity {}", row.severity))
                })?,
                waiting_since: row.waiting_since,
                due_at: row.due_at,
                said_at: row.said_at,
                outcome: row.outcome.parse()?,
                first: first.transpose()?,
                is_overturned_elsewhere: row.is_overturned_elsewhere,
            })
        })
        .collect()
}

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

/// The reviews of a site for which the same policy is suggested.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// The site.
    pub site: SiteId,
    /// The most severe policy that is suggested.
    pub suggested: Option<ReviewPolicyId>,
    /// How many there are, those that somebody has or has decided included.
    pub reviews: i64,
    /// How many of them should have been decided by now.
    pub overdue: i64,
    /// Since when the first of them has waited.
    pub oldest: DateTime<Utc>,
}

/// What waits in a team now. If there are more than `most` reviews, the least urgent are not counted.
///
/// Reviews that were flagged for the same are counted first, so that policies are compared with few of them.
pub async fn backlog(
    conn: &mut PgConnection,
    team: TeamId,
    site: Option<SiteId>,
    most: i64,
) -> Result<Vec<Backlog>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            g.site_id, s.suggested as "suggested?", sum(g.reviews)::bigint as "reviews!", sum(g.overdue)::bigint as "overdue!",
            min(g.oldest) as "oldest!"
        from (
            select
                site_id, categories, rules, count(*) as reviews, count(*) filter (where due_at < now()) as overdue,
                min(waiting_since) as oldest
            from (
                select site_id, categories, rules, due_at, waiting_since
                from review_tasks
                where team_id = $1 and only_for is null and ($2::uuid is null or site_id = $2)
                order by severity desc
                limit $3
            ) t
            group by site_id, categories, rules
        ) g
        left join lateral (
            select p.id as suggested
            from review_policies p
            where p.team_id = $1 and p.disabled_at is null and (p.categories && g.categories or p.rules && g.rules)
            order by p.severity desc, p.key, p.id
            limit 1
        ) s on true
        group by g.site_id, s.suggested
        order by g.site_id, s.suggested
        "#,
        team.as_uuid(),
        site.map(SiteId::as_uuid),
        most,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Backlog {
            site: row.site_id.into(),
            suggested: row.suggested.map(ReviewPolicyId::from),
            reviews: row.reviews,
            overdue: row.overdue,
            oldest: row.oldest,
        })
        .collect())
}
