//! A slice of the statistics: what the next transactions stored is added up, and the effect of that.

mod backfill;
mod deliveries;
mod items;
mod matches;
mod sums;
mod transactions;
mod verdicts;
mod write;

use queue::{Effect, FinishTx, Survivor};
use sqlx::PgPool;

use self::{
    backfill::Backfill,
    sums::Tally,
    transactions::{Range, Standing},
};
use super::{ROW, Statistics};
use crate::{
    Error,
    chain::{self, End, Step},
    jobs,
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
    let Some(standing) = transactions::standing(&mut conn).await? else {
        return Ok(None);
    };
    let range = transactions::next(&mut conn, &standing).await?;
    let backfill = backfill::next(&mut conn).await?;
    let mut tally = Tally::default();
    items::add(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    verdicts::add(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    matches::add(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    deliveries::add(&mut conn, &range, backfill.as_ref(), &mut tally).await?;
    let has_more =
        !range.is_last || backfill.is_some() || deliveries::many_given_up(&mut conn).await?;
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
            let given_up = deliveries::take_given_up(tx.conn).await?;
            write::add_hours(tx.conn, slice.tally.with(given_up)).await?;
            write::add_matches(tx.conn, &slice.tally).await?;
            if slice.end == End::Open {
                tx.jobs.push(jobs::add_up());
            }
        }
        Ok(())
    }
}
