//! The cost of work in Postgres: statements (by `pg_stat_statements`) and write-ahead log (by its
//! position).

use anyhow::ensure;
use serde::Serialize;
use sqlx::{PgConnection, Row as _};

/// How many kinds of statement a report names.
const NAMED: i64 = 16;
/// How many characters of a statement a report shows.
const SHOWN: usize = 90;

/// What an item cost.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cost {
    /// Statements that Gatehouse sent, `begin` and `commit` included, divided by the items.
    pub(crate) statements_per_item: f64,
    /// Claims of jobs, those that found none included, divided by the items.
    pub(crate) claims_per_item: f64,
    /// Bytes of write-ahead log, divided by the items.
    pub(crate) wal_bytes_per_item: f64,
    /// The most frequent statements.
    pub(crate) statements: Vec<Statement>,
}

/// A kind of statement.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Statement {
    pub(crate) calls_per_item: f64,
    pub(crate) mean_ms: f64,
    /// The beginning of its text.
    pub(crate) text: String,
}

/// A measurement under way.
pub(crate) struct Meter {
    position: String,
}

impl Meter {
    /// Starts counting from zero.
    pub(crate) async fn start(conn: &mut PgConnection) -> anyhow::Result<Self> {
        sqlx::query("select pg_stat_statements_reset()")
            .execute(&mut *conn)
            .await?;
        let position = sqlx::query_scalar("select pg_current_wal_insert_lsn()::text")
            .fetch_one(conn)
            .await?;
        Ok(Self { position })
    }

    /// The cost since the start, for each of `items` items.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(crate) async fn stop(self, conn: &mut PgConnection, items: u64) -> anyhow::Result<Cost> {
        let bytes: i64 = sqlx::query_scalar(
            "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::text::pg_lsn)::bigint",
        )
        .bind(&self.position)
        .fetch_one(&mut *conn)
        .await?;
        let (calls, claims): (i64, i64) = sqlx::query_as(
            "
            select
                coalesce(sum(calls), 0)::bigint,
                coalesce(sum(calls) filter (where query like '%queue.claim(%'), 0)::bigint
            from pg_stat_statements
            where userid = 'gatehouse'::regrole
            ",
        )
        .fetch_one(&mut *conn)
        .await?;
        let rows = sqlx::query(
            "
            select calls, mean_exec_time, query from pg_stat_statements
            where userid = 'gatehouse'::regrole
            order by calls desc
            limit $1
            ",
        )
        .bind(NAMED)
        .fetch_all(conn)
        .await?;
        let items = items.max(1) as f64;
        let statements = rows.iter().map(|row| {
            let text: String = row.get("query");
            let words: Vec<&str> = text.split_whitespace().collect();
            Statement {
                calls_per_item: row.get::<i64, _>("calls") as f64 / items,
                mean_ms: row.get("mean_exec_time"),
                text: words.join(" ").chars().take(SHOWN).collect(),
            }
        });
        Ok(Cost {
            statements_per_item: calls as f64 / items,
            claims_per_item: claims as f64 / items,
            wal_bytes_per_item: bytes as f64 / items,
            statements: statements.collect(),
        })
    }
}

/// Empties the tables that submissions fill, and writes a checkpoint, so that every round starts from the same state.
///
/// `rate_windows` stays, because API processes hold shares of it. It has one row for each key,
/// however much is submitted.
pub(crate) async fn empty_tables(conn: &mut PgConnection) -> anyhow::Result<()> {
    sqlx::query(
        "
        truncate media, media_images, analyses, verdicts, reviews, events, deliveries, delivery_attempts,
            idempotency_keys, usage, queue.jobs, queue.dead_jobs
        ",
    )
    .execute(&mut *conn)
    .await?;
    // Older versions have no desk. Reviews that are truncated fire no trigger.
    sqlx::query(
        "
        do $$
        begin
            if to_regclass('review_tasks') is not null then
                truncate review_tasks, review_opinions;
            end if;
        end
        $$
        ",
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query("checkpoint").execute(conn).await?;
    Ok(())
}

/// The rows that a number of accepted submissions must have left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traces {
    pub(crate) submissions: u64,
    /// Whether each had an `Idempotency-Key`.
    pub(crate) named: bool,
    /// Whether each was stored with one job, which also sends its acceptance, and not with an event
    /// and a delivery.
    pub(crate) short: bool,
}

impl Traces {
    /// Counts the rows. A submission counts only if it was stored and its quota booked.
    ///
    /// # Errors
    /// Something is missing, or there is too much of it.
    pub(crate) async fn expect(self, conn: &mut PgConnection) -> anyhow::Result<()> {
        let found = sqlx::query(
            "
            select
                (select count(*) from media) as media,
                (select count(*) from events) as events,
                (select count(*) from deliveries) as deliveries,
                (select count(*) from queue.jobs) as jobs,
                (select coalesce(sum(submissions), 0)::bigint from usage where quota is not null) as usage,
                (select count(*) from idempotency_keys) as idempotency_keys,
                (select count(*) from rate_windows where policy = 'submit') as rate_windows
            ",
        )
        .fetch_one(conn)
        .await?;
        let each = i64::try_from(self.submissions)?;
        let told = if self.short { 0 } else { each };
        let expected = [
            ("media", each),
            ("events", told),
            ("deliveries", told),
            ("jobs", each + told),
            ("usage", each),
            ("idempotency_keys", if self.named { each } else { 0 }),
        ];
        for (what, expected) in expected {
            let found: i64 = found.get(what);
            ensure!(
                found == expected,
                "{expected} {what} were expected, but {found} are there"
            );
        }
        ensure!(
            found.get::<i64, _>("rate_windows") > 0,
            "no rate was counted"
        );
        Ok(())
    }
}

/// Lets submissions take the fast path, as if workers ran elsewhere: each is stored with one job.
pub(crate) async fn announce_workers(conn: &mut PgConnection) -> anyhow::Result<()> {
    sqlx::query(
        "insert into item_workers values (gen_random_uuid(), '{analysis,rules}', 'infinity')",
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// How many jobs exist in any state except dead.
pub(crate) async fn jobs(conn: &mut PgConnection) -> anyhow::Result<i64> {
    Ok(sqlx::query_scalar("select count(*) from queue.jobs")
        .fetch_one(conn)
        .await?)
}
