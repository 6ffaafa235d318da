//! Reading figures. Sites, teams and the whole installation have rows of their own, so the cost
//! depends on the hours only: at most 9,600 of them, whatever the number of sites.

use chrono::{DateTime, NaiveDate, Utc};
use domain::{
    id::{RuleGroupId, RuleId, SiteId, TeamId},
    statistics::Interval,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{EVERYTHING, Figures, Outcomes, ROW};
use crate::Error;

/// What figures are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One site.
    Site(SiteId),
    /// All sites of a team.
    Team(TeamId),
    /// All teams. Matches of rules are not counted for it: rules belong to teams.
    Everything,
}

impl Subject {
    const fn id(self) -> Uuid {
        match self {
            Self::Site(site) => site.as_uuid(),
            Self::Team(team) => team.as_uuid(),
            Self::Everything => EVERYTHING,
        }
    }
}

/// The figures of an hour or a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// When it begins.
    pub start: DateTime<Utc>,
    /// What happened in it.
    pub figures: Figures,
}

/// How often a rule matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatches {
    /// Its group.
    pub group: RuleGroupId,
    /// The rule.
    pub rule: RuleId,
    /// Its name when it matched last.
    pub name: String,
    /// Items in whose machine verdict it is listed.
    pub matches: i64,
}

/// The figures of a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Hours or days in which something was counted, in order.
    pub buckets: Vec<Bucket>,
    /// The rules that matched most often on the days of the span, at most [`TOP_RULES`].
    pub rules: Vec<RuleMatches>,
    /// How often all other rules matched.
    pub other_matches: i64,
    /// Everything that happened before this time is counted.
    pub counted_until: DateTime<Utc>,
    /// Whether what happened before the installation had statistics is counted, too.
    pub has_history: bool,
}

/// How many rules a report names.
pub const TOP_RULES: usize = 20;

/// What happened from the first time until before the second one, which are beginnings of hours.
pub async fn report(
    conn: &mut PgConnection,
    subject: Subject,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    interval: Interval,
) -> Result<Report, Error> {
    let buckets = buckets(conn, subject, from, to, interval).await?;
    with(conn, subject, from, to, buckets).await
}

/// The same, and what happened in a span of the same length before it.
pub async fn report_with_before(
    conn: &mut PgConnection,
    subject: Subject,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    interval: Interval,
) -> Result<(Report, Vec<Bucket>), Error> {
    let mut before = buckets(conn, subject, from - (to - from), to, interval).await?;
    let begun = before.partition_point(|bucket| bucket.start < from);
    let buckets = before.split_off(begun);
    Ok((with(conn, subject, from, to, buckets).await?, before))
}

/// The report with these figures.
async fn with(
    conn: &mut PgConnection,
    subject: Subject,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    buckets: Vec<Bucket>,
) -> Result<Report, Error> {
    let (rules, other_matches) = rules(conn, subject, from, to).await?;
    // A transaction dates its rows by its beginning or by a clock of its own, so some rows are a
    // little older than the moment at which they could be counted.
    let counted = sqlx::query!(
        r#"
        select
            least(reached_at, (select min(since) from unnest(unfinished_since) as u (since))) - interval '1 minute'
                as "until!",
            not exists (select from statistics_backfill) as "has_history!"
        from statistics_progress
        where id = $1
        "#,
        ROW,
    )
    .fetch_one(conn)
    .await?;
    Ok(Report {
        buckets,
        rules,
        other_matches,
        counted_until: counted.until,
        has_history: counted.has_history,
    })
}

async fn buckets(
    conn: &mut PgConnection,
    subject: Subject,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    interval: Interval,
) -> Result<Vec<Bucket>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select
            date_trunc($4, hour, 'UTC') as "start!",
            sum(accepted)::bigint as "accepted!",
            sum(rule_approved)::bigint as "rule_approved!",
            sum(rule_rejected)::bigint as "rule_rejected!",
            sum(rule_pending_review)::bigint as "rule_pending_review!",
            sum(ai_approved)::bigint as "ai_approved!",
            sum(ai_rejected)::bigint as "ai_rejected!",
            sum(ai_pending_review)::bigint as "ai_pending_review!",
            sum(manual_approved)::bigint as "manual_approved!",
            sum(manual_rejected)::bigint as "manual_rejected!",
            sum(failure_approved)::bigint as "failure_approved!",
            sum(failure_rejected)::bigint as "failure_rejected!",
            sum(failure_pending_review)::bigint as "failure_pending_review!",
            sum(reviews_decided)::bigint as "reviews_decided!",
            sum(reviews_waited_ms)::bigint as "reviews_waited_ms!",
            sum(delivered)::bigint as "delivered!",
            sum(failed_attempts)::bigint as "failed_attempts!",
            sum(exhausted)::bigint as "exhausted!",
            sum(discarded)::bigint as "discarded!"
        from statistics_hours
        where subject_id = $1 and hour >= $2 and hour < $3
        group by 1
        order by 1
        "#,
        subject.id(),
        from,
        to,
        interval.as_str(),
    )
    .fetch_all(conn)
    .await?;
    let buckets = rows.into_iter().map(|row| Bucket {
        start: row.start,
        figures: Figures {
            accepted: row.accepted,
            rules: Outcomes {
                approved: row.rule_approved,
                rejected: row.rule_rejected,
                pending_review: row.rule_pending_review,
            },
            providers: Outcomes {
                approved: row.ai_approved,
                rejected: row.ai_rejected,
                pending_review: row.ai_pending_review,
            },
            people: Outcomes {
                approved: row.manual_approved,
                rejected: row.manual_rejected,
                pending_review: 0,
            },
            failures: Outcomes {
                approved: row.failure_approved,
                rejected: row.failure_rejected,
                pending_review: row.failure_pending_review,
            },
            reviews_decided: row.reviews_decided,
            reviews_waited_ms: row.reviews_waited_ms,
            delivered: row.delivered,
            failed_attempts: row.failed_attempts,
            exhausted: row.exhausted,
            discarded: row.discarded,
        },
    });
    Ok(buckets.collect())
}

/// The rules that matched most often, and the matches of all others. Matches are counted by day.
async fn rules(
    conn: &mut PgConnection,
    subject: Subject,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<(Vec<RuleMatches>, i64), sqlx::Error> {
    let days: (NaiveDate, NaiveDate) = (from.date_naive(), to.date_naive());
    let is_midnight = to == days.1.and_time(chrono::NaiveTime::MIN).and_utc();
    let rows = sqlx::query!(
        r#"
        select
            rule_group_id, rule_id,
            (array_agg(name order by day desc))[1] as name,
            sum(matches)::bigint as "matches!",
            (sum(sum(matches)) over ())::bigint as "of_all!"
        from statistics_rules
        where subject_id = $1 and day >= $2 and (day < $3 or day = $3 and not $4)
        group by rule_group_id, rule_id
        -- The row of the others has no name.
        order by rule_id = $5, sum(matches) desc, rule_group_id, rule_id
        limit $6
        "#,
        subject.id(),
        days.0,
        days.1,
        is_midnight,
        Uuid::nil(),
        i64::try_from(TOP_RULES).unwrap_or(i64::MAX),
    )
    .fetch_all(conn)
    .await?;
    let mut others = rows.first().map_or(0, |row| row.of_all);
    let mut rules = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(name) = row.name else { continue };
        others -= row.matches;
        rules.push(RuleMatches {
            group: row.rule_group_id.into(),
            rule: row.rule_id.into(),
            name,
            matches: row.matches,
        });
    }
    Ok((rules, others))
}
