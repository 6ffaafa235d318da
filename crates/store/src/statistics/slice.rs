//! A slice of the statistics: what the next transactions stored is added up, and the effect of that.

mod sources;
mod write;

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{ROW, Statistics};
use crate::{
    Error,
    chain::{self, End, Step},
    jobs,
    statistics::{EVERYTHING, Figures},
};

/// Rows of each source that a slice adds up, about: the rows of one transaction are counted
/// together. Reading takes less than a second, and writing the sums a small part of that.
pub(super) const ROWS: i64 = 5_000;

/// Sums of the rows that the next transactions stored, and, while there are any, of some rows from
/// before the installation had statistics.
#[derive(Debug)]
pub struct Slice {
    standing: Standing,
    range: Range,
    backfill: Option<Backfill>,
    tally: Tally,
    end: End,
}

/// Adds up the next slice; none if the chain does not run.
///
/// The statements need no common snapshot. What they count was committed when the range was chosen:
/// the range names the transactions that were still open, and these are skipped until they have
/// ended.
pub async fn next(pool: &PgPool) -> Result<Option<Slice>, Error> {
    let mut conn = pool.acquire().await?;
    let Some(standing) = standing(&mut conn).await? else {
        return Ok(None);
    };
    let range = next_range(&mut conn, &standing).await?;
    let backfill = next_backfill(&mut conn).await?;
    let mut tally = Tally::default();
    sources::add_items(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    sources::add_verdicts(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    sources::add_matches(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    sources::add_attempts(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    let has_more =
        !range.is_last || backfill.is_some() || sources::many_given_up(&mut conn).await?;
    Ok(Some(Slice {
        standing,
        range,
        backfill,
        tally,
        end: End::of(!has_more),
    }))
}

impl Effect for Slice {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect: slice, .. } in batch {
            let step = Step {
                from: slice.standing.steps,
                to: slice.standing.steps + 1,
                end: slice.end,
            };
            if !chain::advance::<Statistics>(tx.conn, ROW, step).await? {
                continue;
            }
            slice.range.record(tx.conn).await?;
            if let Some(backfill) = &slice.backfill {
                backfill.record(tx.conn).await?;
            }
            let mut tally = Tally {
                hours: slice.tally.hours.clone(),
                ..Tally::default()
            };
            sources::take_given_up(tx.conn, &mut tally).await?;
            write::add_hours(tx.conn, &tally.hours).await?;
            write::add_matches(tx.conn, &slice.tally).await?;
            if slice.end == End::Open {
                tx.jobs.push(jobs::add_up());
            }
        }
        Ok(())
    }
}

/// A rule's row: the site or team, the day, the group and the rule.
type RuleKey = (Uuid, NaiveDate, Uuid, Uuid);

/// How often a rule matched, and its name.
#[derive(Clone, Debug)]
struct Matched {
    name: String,
    matches: i64,
}

/// The sums of a slice.
#[derive(Debug, Default)]
struct Tally {
    hours: HashMap<(Uuid, DateTime<Utc>), Figures>,
    matches: HashMap<RuleKey, Matched>,
}

impl Tally {
    /// Adds figures of a site and its team to theirs, and to those of everything.
    fn add(&mut self, of: [Uuid; 2], hour: DateTime<Utc>, figures: Figures) {
        for subject in of.into_iter().chain([EVERYTHING]) {
            *self.hours.entry((subject, hour)).or_default() += figures;
        }
    }

    fn add_matches(&mut self, key: RuleKey, matched: &Matched) {
        self.matches
            .entry(key)
            .and_modify(|known| known.matches += matched.matches)
            .or_insert_with(|| matched.clone());
    }
}

/// Rows of a slice of the backfill. Recent rows are counted in the same slice.
const BACKFILLED: i64 = 1_000;

/// Rows of one table from before the installation had statistics. Nobody knows their transactions,
/// but all of these have ended, and no such row is added any more. So they are counted in the order
/// of ids.
#[derive(Debug)]
struct Backfill {
    source: String,
    /// The rows after this id,
    after: Uuid,
    /// up to this one.
    through: Uuid,
    is_last: bool,
}

/// The next rows; none if all are counted.
async fn next_backfill(conn: &mut PgConnection) -> Result<Option<Backfill>, sqlx::Error> {
    sqlx::query_as!(
        Backfill,
        r#"
        select
            b.source,
            b.walked_to as "after!",
            coalesce(n.id, b.until) as "through!",
            n.id is null as "is_last!"
        from (select * from statistics_backfill order by source limit 1) b
        left join lateral (
            (
                select m.id from media m
                where b.source = 'media' and m.id > b.walked_to and m.id < b.until
                order by m.id offset $1 limit 1
            )
            union all
            (
                select v.media_id from verdicts v
                where b.source = 'verdicts' and v.media_id > b.walked_to and v.media_id < b.until
                order by v.media_id offset $1 limit 1
            )
            union all
            (
                select a.delivery_id from delivery_attempts a
                where b.source = 'delivery_attempts' and a.delivery_id > b.walked_to and a.delivery_id < b.until
                order by a.delivery_id offset $1 limit 1
            )
        ) n on true
        "#,
        BACKFILLED - 1,
    )
    .fetch_optional(conn)
    .await
}

impl Backfill {
    /// The ids between which this table's rows are counted.
    fn of(this: Option<&Self>, source: &str) -> (Option<Uuid>, Option<Uuid>) {
        let this = this.filter(|this| this.source == source);
        (this.map(|this| this.after), this.map(|this| this.through))
    }

    async fn record(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "
            with finished as (
                delete from statistics_backfill where source = $1 and $3
            )
            update statistics_backfill set walked_to = $2 where source = $1 and not $3
            ",
            self.source,
            self.through,
            self.is_last,
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// How far the chain has got, and which transactions were open when that was read.
#[derive(Debug)]
struct Standing {
    steps: i64,
    counted_to: i64,
    unfinished: Vec<i64>,
    unfinished_since: Vec<DateTime<Utc>>,
    reached_at: DateTime<Utc>,
    rows_since: Option<DateTime<Utc>>,
    /// The first transaction that had not begun,
    head: i64,
    /// and those before it that had not ended.
    running: Vec<i64>,
    /// When that was.
    at: DateTime<Utc>,
}

/// The transactions of a slice, and what is recorded with it.
#[derive(Debug)]
struct Range {
    /// The first one, and the first one after them.
    from: i64,
    to: i64,
    /// Transactions before `to` that had not ended. Nothing of them is counted yet.
    open: Vec<i64>,
    /// For each of them, a time before which it stored nothing.
    open_since: Vec<DateTime<Utc>>,
    /// Transactions before `from` that were open in an earlier slice and have ended since.
    ended: Vec<i64>,
    /// Only rows from this time on belong to transactions of these numbers.
    rows_since: Option<DateTime<Utc>>,
    reached_at: DateTime<Utc>,
    /// Whether it contains everything that was committed.
    is_last: bool,
}

/// None if the chain does not run.
async fn standing(conn: &mut PgConnection) -> Result<Option<Standing>, sqlx::Error> {
    sqlx::query_as!(
        Standing,
        r#"
        select
            p.steps,
            p.counted_to::text::bigint as "counted_to!",
            p.unfinished::text []::bigint [] as "unfinished!",
            p.unfinished_since,
            p.reached_at,
            p.rows_since,
            pg_snapshot_xmax(s)::text::bigint as "head!",
            array(select r::text::bigint from pg_snapshot_xip(s) as r) as "running!",
            now() as "at!"
        from statistics_progress p
        cross join pg_current_snapshot() as s
        where p.id = $1 and p.state = 'running'
        "#,
        ROW,
    )
    .fetch_optional(conn)
    .await
}

/// The transactions of the next slice. They have about [`ROWS`] rows together, or fewer if there are no more.
async fn next_range(conn: &mut PgConnection, standing: &Standing) -> Result<Range, sqlx::Error> {
    let head = standing.head;
    // A database that was restored from a dump counts its transactions from the beginning. The rows
    // that it brought along belong to other transactions of the same numbers, and are older.
    let was_restored = head < standing.counted_to;
    let (from, rows_since) = if was_restored {
        (FIRST, Some(standing.reached_at))
    } else {
        (standing.counted_to, standing.rows_since)
    };
    let to = match last(conn, from).await? {
        Some(last) => last.max(from + 1).min(head),
        None => head,
    };
    let is_running = |number: &i64| standing.running.contains(number);
    let known = standing.unfinished.iter().zip(&standing.unfinished_since);
    let still = known.filter(|(number, _)| is_running(number));
    let new = standing.running.iter();
    let new = new.filter(|number| (from..to).contains(*number));
    let (open, open_since) = still
        .chain(new.map(|number| (number, &standing.reached_at)))
        .unzip();
    let ended = standing.unfinished.iter().copied();
    let is_last = to == head;
    Ok(Range {
        from,
        to,
        open,
        open_since,
        ended: ended.filter(|number| !is_running(number)).collect(),
        rows_since,
        reached_at: if is_last {
            standing.at
        } else {
            standing.reached_at
        },
        is_last,
    })
}

/// The number of the first normal transaction of a database.
const FIRST: i64 = 3;

/// The transaction with which a slice that begins at `from` has enough rows; none if there are not
/// so many. Large verdicts count as several rows.
async fn last(conn: &mut PgConnection, from: i64) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with bounds as (
            (
                select stored_by from media
                where stored_by >= $1::bigint::text::xid8
                order by stored_by offset $2 limit 1
            )
            union all
            (
                select stored_by from delivery_attempts
                where stored_by >= $1::bigint::text::xid8
                order by stored_by offset $2 limit 1
            )
            union all
            (
                select w.stored_by
                from (
                    select
                        v.stored_by,
                        sum(1 + (pg_column_size(v.details) + pg_column_size(v.trace)) / 1024) over so_far as running
                    from (
                        select stored_by, details, trace from verdicts
                        where stored_by >= $1::bigint::text::xid8
                        order by stored_by
                        limit $2 + 1
                    ) v
                    window so_far as (order by v.stored_by rows unbounded preceding)
                ) w
                where w.running > $2
                order by w.stored_by
                limit 1
            )
        )
        select stored_by::text::bigint as "last!" from bounds order by stored_by limit 1
        "#,
        from,
        ROWS,
    )
    .fetch_optional(conn)
    .await
}

impl Range {
    async fn record(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "
            update statistics_progress
            set
                counted_to = $2::bigint::text::xid8, unfinished = $3::bigint []::text []::xid8 [],
                unfinished_since = $4, reached_at = $5, rows_since = $6, begun_at = clock_timestamp()
            where id = $1
            ",
            ROW,
            self.to,
            &self.open,
            &self.open_since,
            self.reached_at,
            self.rows_since,
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}
