//! Parts of lists.

use uuid::Uuid;

/// Which part of a list is wanted. Lists are in the order of ids, which is nearly that of time.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Only what comes after the row with this id.
    pub after: Option<Uuid>,
    /// This many rows at most.
    pub limit: i64,
}
