//! What people said in a span of time.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, ReviewPolicyId, SiteId},
    media::{Ruling, Status},
    review::{Outcome, ReviewKind, Severity, Tier},
};
use sqlx::PgConnection;

use super::Span;
use crate::{Error, review::tier};

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
