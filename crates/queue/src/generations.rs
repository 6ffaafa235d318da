//! Keeps claims away from dead index entries. `migrations/6_generations.sql` explains what a
//! generation is.
//!
//! Each dead entry of an index costs time in every claim that meets it, until vacuum removes it.
//! Vacuum must not remove it while anybody holds an old snapshot. Postgres counts the entries that
//! scans met and the rows that they found; the difference is waste. Once the waste since the last
//! time has cost as much as moving the live rows would, they are moved, and the generation is left.
//! So moving never costs more than it saves, and nobody needs to know who holds what.

mod leave;
mod read;
mod unreachable;

use sqlx::PgConnection;
use tracing::debug;

use self::{
    leave::{advance, close, condemn, empty, leave},
    read::{Generations, count_living, read},
};

pub(crate) use self::unreachable::gather_unreachable;

/// Meeting this many dead entries costs about as much as moving one row. Measured: 0.15 to 0.2 µs
/// against 7.5 µs.
const MOVE: i64 = 40;
/// Waste below this is not worth acting on: about 10 ms of one core.
const TRIFLE: i64 = 50_000;
/// This many live rows can be counted in each round, in some milliseconds.
const COUNTED: i64 = 10_000;
/// The most jobs moved in one round, for due and running ones each.
const ROUND: i64 = 20_000;

/// What the housekeeper remembers between two rounds.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    /// The counters at the time when a generation was last left.
    base: Option<Counters>,
    /// The waste at which counting the live rows again is worthwhile.
    enough: i64,
    /// The rounds until counting is worthwhile at any waste. Two reasons: few rows may be live by
    /// then; and an entry that a claim has met once is marked as dead, so it never counts as waste
    /// again, but its page is still read.
    rest: i64,
}

/// Counters since some time in the past. They only grow, unless somebody resets the server's
/// statistics.
#[derive(Clone, Copy, Debug)]
struct Counters {
    /// Dead entries met by scans of the claims' indexes.
    wasted: i64,
    /// Updated rows: at least as many as entries died.
    updated: i64,
}

/// Which generation to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    /// The young one. Its live rows are moved to the old one.
    Young,
    /// The old one. The young one takes its place, and its live rows are moved there.
    Old,
}

impl Collector {
    /// One round: begins to leave a generation if that pays, or continues to leave one. Returns
    /// whether jobs were found that no claim could see.
    ///
    /// Several processes may do this at the same time: each step is a transaction that checks
    /// again, under the lock of the only row of `queue.generations`.
    pub(crate) async fn round(&mut self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let now = read(conn).await?;
        match now.condemned {
            Some(condemned) if condemned == now.young || now.old == now.young => {
                // The process that condemned it did not reach the second step.
                advance(conn).await?;
            }
            Some(condemned) => leave(conn, condemned).await?,
            None => {
                if let Some(choice) = self.choose(conn, &now).await? {
                    debug!(generation = now.young, ?choice, "leaving a generation");
                    condemn(conn, choice, now.updated - self.base(&now).updated).await?;
                    *self = Self::default();
                    advance(conn).await?;
                }
            }
        }
        let mut came_to_light = 0;
        for &generation in &now.held {
            came_to_light += empty(conn, generation).await?;
            close(conn, generation).await?;
        }
        Ok(came_to_light > 0)
    }

    /// Which generation to leave, if that pays.
    async fn choose(
        &mut self,
        conn: &mut PgConnection,
        now: &Generations,
    ) -> Result<Option<Leave>, sqlx::Error> {
        let base = self.base(now);
        let wasted = now.wasted - base.wasted;
        self.rest = (self.rest - 1).max(0);
        if wasted < TRIFLE || (wasted < self.enough && self.rest > 0) {
            return Ok(None);
        }
        let affordable = wasted / MOVE;
        // Counting costs time, too. Count again only when twice as much can be afforded, or when
        // that many could have been counted in passing.
        self.enough = wasted * 2;
        self.rest = 1 + affordable / COUNTED;
        let dead_in_young = now.updated - base.updated;
        if now.moved > dead_in_young {
            let living = count_living(conn, now.old, affordable + 1).await?;
            if living <= affordable && now.moved - living > dead_in_young {
                return Ok(Some(Leave::Old));
            }
        }
        let living = count_living(conn, now.young, affordable + 1).await?;
        Ok((living <= affordable).then_some(Leave::Young))
    }

    fn base(&mut self, now: &Generations) -> Counters {
        let counters = Counters {
            wasted: now.wasted,
            updated: now.updated,
        };
        let base = self
            .base
            .filter(|base| base.wasted <= now.wasted && base.updated <= now.updated);
        *self.base.insert(base.unwrap_or(counters))
    }
}

#[cfg(test)]
mod tests;
