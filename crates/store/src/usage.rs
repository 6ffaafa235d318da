//! How much of their plans teams have used.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::TeamId;
use sqlx::{PgConnection, PgPool};

use crate::{
    Error,
    batches::{self, Pace, ROWS},
};

/// A billing period of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// When it began.
    pub start: DateTime<Utc>,
    /// When the next one begins.
    pub end: DateTime<Utc>,
    /// Submissions that were accepted in it.
    pub submissions: i64,
    /// How many the plan allows, or allowed when the last one was accepted; none means no limit.
    pub quota: Option<i64>,
    /// Webhooks that were booked in it.
    pub deliveries: i64,
    /// How many the plan allows, or allowed when the last ones were booked.
    pub delivery_quota: Option<i64>,
}

/// The current billing period of a team, and before it the past ones in which anything was
/// submitted: the latest first, at most so many. There are none if there is no such team.
pub async fn periods(
    conn: &mut PgConnection,
    team: TeamId,
    limit: i64,
) -> Result<Vec<Period>, Error> {
    // The current period has no row before its first submission. No period begins before the end of
    // the last one, so periods do not overlap. When the start of the subscription was changed, the
    // first new period may otherwise begin before that change.
    let periods = sqlx::query_as!(
        Period,
        r#"
        select
            greatest(
                period.start, lag(period.ends) over (order by period.ends, period.is_current, period.start)
            ) as "start!",
            period.ends as "end!",
            period.submissions as "submissions!",
            period.quota,
            period.deliveries as "deliveries!",
            period.delivery_quota
        from subscriptions s
        join plans p on p.id = s.plan_id
        cross join lateral (select billing_period(s.started_at, now()) as start) current
        cross join lateral (
            select
                current.start, billing_period(s.started_at, current.start, 1) as ends, true as is_current,
                coalesce(sum(u.submissions), 0)::bigint as submissions, p.submissions_per_period as quota,
                coalesce(sum(u.deliveries), 0)::bigint as deliveries, p.deliveries_per_period as delivery_quota
            from usage u
            where u.team_id = s.team_id and u.period_start = current.start
            union all
            select
                u.period_start, coalesce(u.period_end, least(billing_period(s.started_at, u.period_start, 1), now())), false,
                u.submissions, u.quota, u.deliveries, u.delivery_quota
            from usage u
            where u.team_id = s.team_id and u.period_start <> current.start
        ) period
        where s.team_id = $1
        order by period.ends desc, period.is_current desc, period.start desc
        limit $2
        "#,
        team.as_uuid(),
        limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(periods)
}

/// Removes the billing periods that ended longer than `age` ago, and returns how many. Other processes may do the same at the
/// same time.
pub async fn forget_old(pool: &PgPool, age: Duration) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_some(pool, age)).await?)
}

async fn forget_some(pool: &PgPool, age: Duration) -> Result<u64, sqlx::Error> {
    // A team without a subscription has no current period. Its periods were months.
    let forgotten = sqlx::query!(
        "
        delete from usage
        where ctid = any(
            array(
                select u.ctid
                from usage u
                left join subscriptions s on s.team_id = u.team_id
                where
                    coalesce(
                        u.period_end, billing_period(s.started_at, u.period_start, 1), u.period_start + interval '1 month'
                    ) <= now() - $1::float8 * interval '1 second'
                    and u.period_start is distinct from billing_period(s.started_at, now())
                limit $2
                for update of u skip locked
            )
        )
        ",
        age.as_secs_f64(),
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}

#[cfg(test)]
mod tests;
