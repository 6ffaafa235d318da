//! A slice of the statistics: what the next transactions stored is added up, and the effect of that.

mod backfill;
mod sources;
mod transactions;
mod write;

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use queue::{Effect, FinishTx, Survivor};
use sqlx::PgPool;
use uuid::Uuid;

use self::{
    backfill::Backfill,
    transactions::{Range, Standing},
};
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
    let Some(standing) = transactions::standing(&mut conn).await? else {
        return Ok(None);
    };
    let range = transactions::next(&mut conn, &standing).await?;
    let backfill = backfill::next(&mut conn).await?;
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
