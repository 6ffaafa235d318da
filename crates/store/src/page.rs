//! Parts of lists.

use uuid::Uuid;

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

/// What is on a page of at most `limit` rows, of steps in the list's order, and after which row the
/// next page begins; none if there is none.
pub(crate) fn found(steps: &[Step], limit: usize) -> (Vec<Uuid>, Option<Uuid>) {
    let mut found = Vec::with_capacity(steps.len());
    for step in steps {
        if found.len() == limit {
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
