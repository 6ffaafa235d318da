//! Rows from before the installation had statistics. Nobody knows their transactions, but all of
//! these have ended, and no such row is added any more. So they are counted in the order of ids.

use sqlx::PgConnection;
use uuid::Uuid;

/// Rows of a slice of the backfill. Recent rows are counted in the same slice.
const ROWS: i64 = 1_000;

/// Old rows of one table.
#[derive(Debug)]
pub(super) struct Backfill {
    source: String,
    /// The rows after this id,
    after: Uuid,
    /// up to this one.
    through: Uuid,
    is_last: bool,
}

/// The next rows; none if all are counted.
pub(super) async fn next(conn: &mut PgConnection) -> Result<Option<Backfill>, sqlx::Error> {
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
        ROWS - 1,
    )
    .fetch_optional(conn)
    .await
}

impl Backfill {
    /// The ids between which this table's rows are counted.
    pub(super) fn of(this: Option<&Self>, source: &str) -> (Option<Uuid>, Option<Uuid>) {
        let this = this.filter(|this| this.source == source);
        (this.map(|this| this.after), this.map(|this| this.through))
    }

    pub(super) async fn record(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
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
