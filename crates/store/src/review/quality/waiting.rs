//! What waits now, by site and by the policy that is suggested.

use chrono::{DateTime, Utc};
use domain::id::{ReviewPolicyId, SiteId, TeamId};
use sqlx::PgConnection;

use crate::Error;

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
