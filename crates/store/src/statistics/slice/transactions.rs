//! Which transactions a slice counts.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::{ROW, ROWS};

/// How far the chain has got, and which transactions were open when that was read.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) steps: i64,
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
pub(super) struct Range {
    /// The first one, and the first one after them.
    pub(super) from: i64,
    pub(super) to: i64,
    /// Transactions before `to` that had not ended. Nothing of them is counted yet.
    pub(super) open: Vec<i64>,
    /// For each of them, a time before which it stored nothing.
    open_since: Vec<DateTime<Utc>>,
    /// Transactions before `from` that were open in an earlier slice and have ended since.
    pub(super) ended: Vec<i64>,
    /// Only rows from this time on belong to transactions of these numbers.
    pub(super) rows_since: Option<DateTime<Utc>>,
    reached_at: DateTime<Utc>,
    /// Whether it contains everything that was committed.
    pub(super) is_last: bool,
}

/// None if the chain does not run.
pub(super) async fn standing(conn: &mut PgConnection) -> Result<Option<Standing>, sqlx::Error> {
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
pub(super) async fn next(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Range, sqlx::Error> {
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
    pub(super) async fn record(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
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
