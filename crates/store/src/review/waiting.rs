//! How much waits on the desk.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, SiteId, TeamId},
    review::{Severity, Tier},
};
use sqlx::PgConnection;

use super::lease::tier;
use crate::Error;

/// No more than this many reviews of a team are counted.
const COUNTED: i64 = 100_000;

/// The reviews of a site, of one severity, for one tier.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The site.
    pub site: SiteId,
    /// How urgent they are.
    pub severity: Severity,
    /// Who is asked.
    pub tier: Tier,
    /// How many there are, those that somebody has or has decided included.
    pub reviews: i64,
    /// How many of them should have been decided by now.
    pub overdue: i64,
    /// Since when the first of them has waited.
    pub oldest: DateTime<Utc>,
}

/// What waits in a team, the most urgent first, as this person sees it: reviews that only somebody
/// else gets are not counted. If there is more than [`COUNTED`], what is least urgent is not
/// counted.
///
/// The person's own ones are counted like any other, also for a while after the person has passed
/// them on. Otherwise the numbers would tell which these are.
pub async fn waiting(
    conn: &mut PgConnection,
    team: TeamId,
    person: Option<ActorId>,
) -> Result<Vec<Waiting>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            site_id,
            severity,
            tier,
            count(*) as "reviews!",
            count(*) filter (where due_at < now()) as "overdue!",
            min(waiting_since) as "oldest!"
        from (
            select site_id, severity, tier, due_at, waiting_since
            from review_tasks
            where
                team_id = $1
                and (only_for is null or only_for = $3 and (tier = 1 and $3 <> all(not_for) or due_at > now()))
            order by severity desc
            limit $2
        ) t
        group by site_id, severity, tier
        order by severity desc, tier desc, site_id
        "#,
        team.as_uuid(),
        COUNTED,
        person.map(ActorId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let severity = Severity::of_number(row.severity);
            Ok(Waiting {
                site: row.site_id.into(),
                severity: severity.ok_or_else(|| {
                    Error::Unreadable(format!("a review has the severity {}", row.severity))
                })?,
                tier: tier(row.tier)?,
                reviews: row.reviews,
                overdue: row.overdue,
                oldest: row.oldest,
            })
        })
        .collect()
}
