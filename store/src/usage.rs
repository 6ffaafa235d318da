//! How much of their plans teams have used.

use chrono::{DateTime, Utc};
use domain::id::TeamId;
use sqlx::PgConnection;

use crate::Error;

/// A billing period of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// When it began.
    pub start: DateTime<Utc>,
    /// When the next one begins.
    pub end: DateTime<Utc>,
    /// Submissions that were accepted in it.
    pub submissions: i64,
    /// How many the plan allows, or allowed when the last one was accepted; none is no limit.
    pub quota: Option<i64>,
    /// Webhooks that were booked in it.
    pub deliveries: i64,
    /// How many the plan allows, or allowed likewise.
    pub delivery_quota: Option<i64>,
}

/// The current billing period of a team, and before it the past ones in which anything was submitted: the latest first, so
/// many at most. There are none if there is no such team.
pub async fn periods(
    conn: &mut PgConnection,
    team: TeamId,
    limit: i64,
) -> Result<Vec<Period>, Error> {
    // The current period has no row before its first submission.
    let periods = sqlx::query_as!(
        Period,
        r#"
        select
            period.start as "start!",
            billing_period(s.started_at, period.start, 1) as "end!",
            period.submissions as "submissions!",
            period.quota,
            period.deliveries as "deliveries!",
            period.delivery_quota
        from subscriptions s
        join plans p on p.id = s.plan_id
        cross join lateral (select billing_period(s.started_at, now()) as start) current
        cross join lateral (
            select
                current.start, coalesce(sum(u.submissions), 0)::bigint as submissions, p.submissions_per_period as quota,
                coalesce(sum(u.deliveries), 0)::bigint as deliveries, p.deliveries_per_period as delivery_quota
            from usage u
            where u.team_id = s.team_id and u.period_start = current.start
            union all
            select u.period_start, u.submissions, u.quota, u.deliveries, u.delivery_quota
            from usage u
            where u.team_id = s.team_id and u.period_start <> current.start
        ) period
        where s.team_id = $1
        order by period.start desc
        limit $2
        "#,
        team.as_uuid(),
        limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(periods)
}
