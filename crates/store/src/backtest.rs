//! Backtests: rules replayed over stored items, slice by slice ([`slice`]), as jobs of a queue of
//! their own. The findings of a slice are stored in the transaction that finishes its job, so
//! nothing is lost or counted twice.

pub mod slice;

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    backtest::{Count, Decided},
    chain::State,
    id::{ActorId, BacktestId, GroupVersionId, MediaId, RuleGroupId, RuleId, SiteId, TeamId},
    media::Status,
    reach::Reach,
    rules::Rule,
};
use queue::{NewJobs, QueueName};
use serde::Serialize;
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use crate::{
    Error,
    batches::{self, Pace},
    chain::{self, Chain},
    id_time::ids_within,
    jobs::{self, BacktestJob},
    page::Page,
};

/// A backtest, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Backtest {
    /// The backtest.
    pub id: BacktestId,
    /// The team whose items are replayed.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// The group that is tried.
    #[serde(rename = "rule_group_id")]
    pub group: RuleGroupId,
    /// The version of it; none: the draft as it was.
    #[serde(rename = "version_id")]
    pub version: Option<GroupVersionId>,
    /// Only items of this site.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// Only items accepted at this time or later.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub since: Option<DateTime<Utc>>,
    /// Only items accepted before this time.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub until: DateTime<Utc>,
    /// Its state.
    pub state: State,
    /// How many items it will look at. Never less than `looked_at`: items that were accepted as it
    /// began may become visible only later.
    pub total: i64,
    /// How many items it has looked at: the sum of the next five numbers.
    pub looked_at: i64,
    /// Items that were judged again.
    pub judged: i64,
    /// Items that the group does not judge.
    pub of_other_groups: i64,
    /// Items that have no verdict yet.
    pub undecided: i64,
    /// Items whose content is no longer stored.
    pub without_content: i64,
    /// Items that were never analysed, although the rules ask for scores.
    pub without_scores: i64,
    /// Items whose verdict would change.
    pub changed: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// Who started it.
    pub created_by: Option<ActorId>,
    /// When it was started.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Backtest {
    const TABLE: &'static str = "backtests";
    const QUEUE: QueueName = jobs::BACKTESTS;
    type Place = Option<Uuid>;
    type Job = BacktestJob;

    fn row(job: &BacktestJob) -> Uuid {
        job.backtest.as_uuid()
    }
}

/// Stops a backtest. False: it has ended already. The findings of a running slice are dropped.
pub async fn cancel(conn: &mut PgConnection, backtest: BacktestId) -> Result<bool, Error> {
    Ok(chain::cancel::<Backtest>(conn, backtest.as_uuid()).await?)
}

/// A backtest to run.
#[derive(Clone, Copy, Debug)]
pub struct NewBacktest<'a> {
    /// Whose items.
    pub team: TeamId,
    /// The group that is tried; one of the team's.
    pub group: RuleGroupId,
    /// The version of it; none: the draft.
    pub version: Option<GroupVersionId>,
    /// The rules, which compile.
    pub rules: &'a [Rule],
    /// Only items of this site, of the team's. The group judges all of them.
    pub site: Option<SiteId>,
    /// Only items accepted at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Only items accepted before this time; none: before now.
    pub until: Option<DateTime<Utc>>,
    /// How many items are looked at, at most, the newest first.
    pub limit: i64,
    /// Who starts it.
    pub by: Actor,
}

/// Creates a backtest with its first job. Tell the queue of the job after the commit. None: the
/// team has a running backtest already. Run it in a transaction, and roll the transaction back if
/// the answer is none.
pub async fn create(
    conn: &mut PgConnection,
    new: NewBacktest<'_>,
) -> Result<Option<(BacktestId, NewJobs)>, Error> {
    let id = BacktestId::from(Uuid::now_v7());
    let (from, before) = ids_within(new.since, new.until);
    let inserted = sqlx::query!(
        "
        insert into backtests (
            id, team_id, rule_group_id, version_id, rules, site_id, since, until, item_limit, created_by, total
        )
        select
            $1, $2, $3, $4, $5, $6, $7, coalesce($8, now()), $9, $10,
            (
                select count(*)
                from (
                    select
                    from sites s
                    join media m on m.site_id = s.id
                    where
                        s.team_id = $2 and ($6::uuid is null or s.id = $6)
                        and m.id >= $11 and m.id < $12
                        and ($7::timestamptz is null or m.created_at >= $7)
                        and m.created_at < coalesce($8, now())
                    limit $9
                ) m
            )
        ",
        id.as_uuid(),
        new.team.as_uuid(),
        new.group.as_uuid(),
        new.version.map(GroupVersionId::as_uuid),
        Json(new.rules) as _,
        new.site.map(SiteId::as_uuid),
        new.since,
        new.until,
        new.limit,
        new.by.as_uuid(),
        from,
        before,
    )
    .execute(&mut *conn)
    .await;
    if !chain::is_inserted(inserted, "backtests_running_key")? {
        return Ok(None);
    }
    let jobs = chain::begin(conn, jobs::replay(id, new.team)).await?;
    Ok(Some((id, jobs)))
}

/// The backtests that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select
            id, team_id, rule_group_id, version_id, site_id, since, until, total, state, looked_at, of_other_groups,
            undecided, without_content, without_scores, changed, created_by, created_at, ended_at, error
        from backtests
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            let not_judged =
                row.of_other_groups + row.undecided + row.without_content + row.without_scores;
            Ok(Backtest {
                id: row.id.into(),
                team: row.team_id.into(),
                group: row.rule_group_id.into(),
                version: row.version_id.map(GroupVersionId::from),
                site: row.site_id.map(SiteId::from),
                since: row.since,
                until: row.until,
                state: row.state.parse()?,
                total: row.total.max(row.looked_at),
                looked_at: row.looked_at,
                judged: row.looked_at - not_judged,
                of_other_groups: row.of_other_groups,
                undecided: row.undecided,
                without_content: row.without_content,
                without_scores: row.without_scores,
                changed: row.changed,
                error: row.error,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
                ended_at: row.ended_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A backtest; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    backtest: BacktestId,
) -> Result<Option<Backtest>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        backtest.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A group's backtests, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<Backtest>, Error> {
    select!(
        conn,
        "rule_group_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3",
        group.as_uuid(),
        page.after,
        page.limit
    )
}

/// An item whose verdict would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The item.
    pub media: MediaId,
    /// What the machine said at the time.
    pub old: Status,
    /// What it would say.
    pub new: Status,
    /// What people decided.
    pub decided: Decided,
    /// The rules that the item would violate, as far as they are listed.
    pub rules: Vec<RuleId>,
}

/// The results for the items that were judged.
pub async fn counts(conn: &mut PgConnection, backtest: BacktestId) -> Result<Vec<Count>, Error> {
    let rows = sqlx::query!(
        "
        select old_status, new_status, decided, items
        from backtest_counts
        where backtest_id = $1
        order by old_status, new_status, decided
        ",
        backtest.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Count {
                old: row.old_status.parse()?,
                new: row.new_status.parse()?,
                decided: row.decided.parse()?,
                items: u64::try_from(row.items).unwrap_or(0),
            })
        })
        .collect()
}

/// The items whose verdict would change, the newest first.
pub async fn changes(
    conn: &mut PgConnection,
    backtest: BacktestId,
    page: Page,
) -> Result<Vec<Change>, Error> {
    let rows = sqlx::query!(
        "
        select media_id, old_status, new_status, decided, rule_ids
        from backtest_changes
        where backtest_id = $1 and ($2::uuid is null or media_id < $2)
        order by media_id desc
        limit $3
        ",
        backtest.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Change {
                media: row.media_id.into(),
                old: row.old_status.parse()?,
                new: row.new_status.parse()?,
                decided: row.decided.parse()?,
                rules: row.rule_ids.into_iter().map(RuleId::from).collect(),
            })
        })
        .collect()
}

/// Forgets the rules of backtests that ended longer than `age` ago, and the items that they list.
/// Their counts stay. Returns how many backtests that were.
pub(crate) async fn forget_details(pool: &PgPool, age: Duration) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_details_of_one(pool, age)).await?)
}

async fn forget_details_of_one(pool: &PgPool, age: Duration) -> Result<u64, sqlx::Error> {
    // One at a time: it may list 10,000 items.
    let changed = sqlx::query!(
        "
        with ended as materialized (
            select id
            from backtests
            where detailed and ended_at <= now() - $1::float8 * interval '1 second'
            order by ended_at
            limit 1
            for update skip locked
        ),
        listed as (delete from backtest_changes where backtest_id in (select id from ended))
        update backtests set detailed = false, rules = '[]' where id in (select id from ended)
        ",
        age.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}

#[cfg(test)]
mod tests;
