//! Verifies a chain: walks from its beginning to its head, and finds the first row that is not as it
//! was sealed.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Finding, Link, Row};

/// Rows are numbered within seconds. A row whose time is so much earlier than that of a row with a
/// lower number was added later than it says, or the clock was wrong.
const BACKDATED: TimeDelta = TimeDelta::hours(1);

/// A walk along a chain. It takes constant memory.
#[derive(Clone, Debug)]
pub struct Walk {
    start: Link,
    known: Option<Link>,
    at: Link,
    rows: u64,
    latest: Option<DateTime<Utc>>,
    backdated: Option<i64>,
}

impl Walk {
    /// Begins after `start`. `known`: a row that the caller knows, to be compared.
    pub fn new(start: Link, known: Option<Link>) -> Self {
        Self {
            start,
            known,
            at: start,
            rows: 0,
            latest: None,
            backdated: None,
        }
    }

    /// Whether the beginning is possible.
    pub fn begin(&self) -> Result<(), Finding> {
        let start = self.start;
        if start.number < 0 || (start.number == 0 && start != Link::START) {
            return Err(Finding::Beginning { start });
        }
        match self.known {
            Some(known) if known.number < start.number => Err(Finding::Removed { known, start }),
            Some(known) if known.number == start.number && known != start => {
                Err(Finding::Rewritten {
                    known,
                    found: start,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Takes the next row, and the number and the hash that it has.
    pub fn step(&mut self, has: Link, row: &Row) -> Result<(), Finding> {
        let expected = self.at.number.saturating_add(1);
        let (number, id) = (has.number, row.id);
        if number > expected {
            return Err(Finding::Missing {
                from: expected,
                to: number - 1,
            });
        }
        if number < expected {
            return Err(Finding::Inserted { number, id });
        }
        if row.link_after(&self.at) != has {
            return Err(Finding::Changed { number, id });
        }
        if let Some(known) = self.known
            && known.number == number
            && known != has
        {
            return Err(Finding::Rewritten { known, found: has });
        }
        self.at = has;
        self.rows += 1;
        let bound = self.latest.and_then(|at| at.checked_sub_signed(BACKDATED));
        if bound.is_some_and(|bound| row.occurred_at < bound) {
            self.backdated.get_or_insert(number);
        }
        self.latest = self.latest.max(Some(row.occurred_at));
        Ok(())
    }

    /// Whether the last row is the head of the chain.
    pub fn end(&self, head: Link) -> Result<(), Finding> {
        let last = self.at;
        if last.number < head.number {
            return Err(Finding::Missing {
                from: last.number + 1,
                to: head.number,
            });
        }
        if last != head {
            return Err(Finding::Head { last, head });
        }
        match self.known {
            Some(known) if known.number > last.number => Err(Finding::CutOff { known, last }),
            Some(_) | None => Ok(()),
        }
    }

    /// What comes before the first row.
    pub fn start(&self) -> Link {
        self.start
    }

    /// The last row that was as it was sealed.
    pub fn at(&self) -> Link {
        self.at
    }

    /// How many rows were as they were sealed.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of the first row whose time is over an hour before that of an earlier row. It may
    /// have been added with an old time.
    pub fn backdated(&self) -> Option<i64> {
        self.backdated
    }
}
