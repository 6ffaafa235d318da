//! Parts of lists.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::id_time::ids_within;

/// Which part of a list is wanted. Lists are in the order of ids, which is nearly the order of
/// time.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Only what comes after the row with this id.
    pub after: Option<Uuid>,
    /// This many rows at most.
    pub limit: i64,
}

impl Page {
    /// The first row.
    pub const ONE: Self = Self {
        after: None,
        limit: 1,
    };
}

/// A row of a walk over a list: a row that is wanted, the last row that was looked at, or both.
pub(crate) struct Step {
    pub(crate) id: Uuid,
    pub(crate) hit: bool,
    pub(crate) last: bool,
}

/// How many rows a page with a filter looks at, over all sites or endpoints together; at least one
/// of each.
pub const WALKED: usize = 5_000;

/// Which rows a page looks at.
///
/// The rows of each site or endpoint are walked from the newest on, as far as its share goes. Below
/// the end of a share, its older rows are unknown, so the page ends there: at the newest such place
/// of all.
pub(crate) struct Walk {
    /// The sites or endpoints.
    pub(crate) over: Vec<Uuid>,
    /// From this id on,
    pub(crate) from: Uuid,
    /// up to this one, which is not walked itself.
    pub(crate) before: Uuid,
    /// Rows of each site or endpoint.
    pub(crate) share: i64,
    /// How many steps are fetched: one more than the page holds tells whether there is another
    /// page.
    pub(crate) fetched: i64,
    limit: usize,
}

impl Walk {
    /// Rows of a time that come after this one, `limit` of which make a page. Without a filter, no
    /// site or endpoint needs more rows than the page can hold.
    pub(crate) fn new(
        over: Vec<Uuid>,
        (since, until): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
        after: Option<Uuid>,
        limit: usize,
        wants_all: bool,
    ) -> Self {
        let (from, until) = ids_within(since, until);
        let fetched = limit.saturating_add(1);
        let share = (WALKED / over.len().max(1)).max(1);
        let share = if wants_all { share.min(fetched) } else { share };
        Self {
            over,
            from,
            before: after.map_or(until, |after| after.min(until)),
            share: i64::try_from(share).unwrap_or(i64::MAX),
            fetched: i64::try_from(fetched).unwrap_or(i64::MAX),
            limit,
        }
    }

    /// What is on the page, of steps in the list's order, and after which row the next page begins;
    /// none if there is none.
    pub(crate) fn found(&self, steps: &[Step]) -> (Vec<Uuid>, Option<Uuid>) {
        let mut found = Vec::with_capacity(steps.len());
        for step in steps {
            if found.len() == self.limit {
                let next = found.last().copied();
                return (found, next);
            }
            if step.hit {
                found.push(step.id);
            }
            if step.last {
                return (found, Some(step.id));
            }
        }
        (found, None)
    }
}
