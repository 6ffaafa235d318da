//! Statistics: what happened at a site, in a team and in the whole installation, by hour.
//!
//! A chain of jobs adds up rows that are only ever added: items, verdicts, attempts of deliveries,
//! and deliveries that were given up. A row knows the transaction that stored it. A slice adds up
//! what the next transactions stored ([`slice`]), and its effect stores the sums together with the
//! number of the transaction up to which everything is counted. So each row is counted exactly once,
//! however late its transaction commits and whatever is killed in between.
//!
//! Submissions write no counters and wait for no lock of the statistics.

mod report;
pub mod slice;

use std::{collections::HashMap, ops::AddAssign, time::Duration};

use chrono::NaiveDate;
use domain::id::{RuleGroupId, RuleId, TeamId};
use queue::{NewJobs, QueueName, live_jobs::Filter};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use self::report::{
    Bucket, Report, RuleMatches, Subject, TOP_RULES, report, report_with_before,
};
use crate::{
    Error,
    batches::{self, Pace, ROWS},
    chain::{self, Chain},
    jobs::{self, StatisticsJob},
};

/// The chain. It begins every minute, and ends when everything is counted.
#[derive(Clone, Copy, Debug)]
pub struct Statistics;

/// The chain's only row.
const ROW: Uuid = Uuid::nil();

impl Chain for Statistics {
    const TABLE: &'static str = "statistics_progress";
    const PLACE: &'static str = "steps";
    const QUEUE: QueueName = jobs::STATISTICS;
    /// How many slices were done.
    type Place = i64;
    type Job = StatisticsJob;

    fn row(_: &StatisticsJob) -> Uuid {
        ROW
    }
}

/// The pause between two runs of the chain.
const PAUSE: Duration = Duration::from_mins(1);

/// A running chain that did nothing for so long may have lost its job.
const STILL: Duration = Duration::from_mins(10);

/// Begins the chain, unless it runs or ended less than a minute ago. The answer has its first job:
/// tell the queue of it. Any number of processes may call it at any time. A chain that failed is
/// begun again, too, and so is one whose job was removed from the queue.
pub async fn begin(pool: &PgPool) -> Result<Option<NewJobs>, Error> {
    let mut tx = pool.begin().await?;
    if !is_begun(&mut tx).await? && !is_lost(&mut tx).await? {
        return Ok(None);
    }
    let jobs = chain::begin(&mut tx, jobs::add_up()).await?;
    tx.commit().await?;
    Ok(Some(jobs))
}

/// Without its indexes, which the migration may still be creating, a slice would read whole tables.
async fn is_begun(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let begun = sqlx::query!(
        "
        update statistics_progress
        set state = 'running', begun_at = now(), ended_at = null, error = null
        where
            id = $1 and state <> 'running' and ended_at <= now() - make_interval(secs => $2)
            and (
                select count(*)
                from pg_index i
                where
                    i.indisvalid
                    and i.indexrelid in (
                        to_regclass('media_stored_by_idx'), to_regclass('verdicts_stored_by_idx'),
                        to_regclass('delivery_attempts_stored_by_idx')
                    )
            ) = 3
        ",
        ROW,
        PAUSE.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(begun.rows_affected() > 0)
}

/// Whether the chain runs without a job. A job too many would do no harm: of two slices that begin
/// at the same place, one is stored.
async fn is_lost(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let still = sqlx::query!(
        "
        update statistics_progress
        set begun_at = now()
        where id = $1 and state = 'running' and begun_at <= now() - make_interval(secs => $2)
        ",
        ROW,
        STILL.as_secs_f64(),
    )
    .execute(&mut *conn)
    .await?;
    if still.rows_affected() == 0 {
        return Ok(false);
    }
    let filter = Filter {
        queue: Some(Statistics::QUEUE.as_str()),
        ..Filter::default()
    };
    Ok(queue::live_jobs::list(conn, filter, 1).await?.is_empty())
}

/// How old the time is up to which the figures are complete, in seconds.
pub async fn lag(pool: &PgPool) -> Result<f64, Error> {
    let lag = sqlx::query_scalar!(
        r#"
        select
            extract(epoch from now() - least(reached_at, (select min(since) from unnest(unfinished_since) as u (since))))::float8
                as "lag!"
        from statistics_progress
        where id = $1
        "#,
        ROW,
    )
    .fetch_one(pool)
    .await?;
    Ok(lag)
}

/// How many days figures are kept: more than a year.
pub const DAYS: i32 = 400;

/// Removes the figures that are too old, and returns how many rows that were. Other processes may
/// do the same at the same time.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let hours = batches::until_none(Pace::Gentle, || forget_hours(pool)).await?;
    Ok(hours + batches::until_none(Pace::Gentle, || forget_rules(pool)).await?)
}

async fn forget_hours(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query!(
        "
        delete from statistics_hours
        where ctid = any(
            array(
                select ctid from statistics_hours
                where hour < now() - make_interval(days => $1)
                limit $2
                for update skip locked
            )
        )
        ",
        DAYS,
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}

async fn forget_rules(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query!(
        "
        delete from statistics_rules
        where ctid = any(
            array(
                select ctid from statistics_rules
                where day < (now() at time zone 'UTC')::date - $1::integer
                limit $2
                for update skip locked
            )
        )
        ",
        DAYS,
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}

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

/// How many verdicts had each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The item may be displayed.
    pub approved: i64,
    /// It may not.
    pub rejected: i64,
    /// A person must decide.
    pub pending_review: i64,
}

/// What happened in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Items that were accepted.
    pub accepted: i64,
    /// Verdicts that a content rule decided, or that needed no provider.
    pub rules: Outcomes,
    /// Verdicts that scores of providers decided.
    pub providers: Outcomes,
    /// Verdicts of people. They never ask for a review.
    pub people: Outcomes,
    /// Verdicts about items that could not be checked: the site's `on_failure` decided, or the rules
    /// could not be evaluated.
    pub failures: Outcomes,
    /// Items that waited for a person and were decided.
    pub reviews_decided: i64,
    /// How long they waited, all together, in milliseconds.
    pub reviews_waited_ms: i64,
    /// Webhooks that were delivered.
    pub delivered: i64,
    /// Attempts to deliver a webhook that failed.
    pub failed_attempts: i64,
    /// Webhooks that were given up because all attempts had failed.
    pub exhausted: i64,
    /// Webhooks that were given up because their endpoint was disabled or deleted.
    pub discarded: i64,
}

/// What figures and matches are counted for: a site, its team, and (figures only) everything.
const EVERYTHING: Uuid = Uuid::nil();

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Self) {
        self.approved += other.approved;
        self.rejected += other.rejected;
        self.pending_review += other.pending_review;
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.rules += other.rules;
        self.providers += other.providers;
        self.people += other.people;
        self.failures += other.failures;
        self.reviews_decided += other.reviews_decided;
        self.reviews_waited_ms += other.reviews_waited_ms;
        self.delivered += other.delivered;
        self.failed_attempts += other.failed_attempts;
        self.exhausted += other.exhausted;
        self.discarded += other.discarded;
    }
}
