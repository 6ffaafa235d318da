//! Large changes in batches of rows, so that no statement holds its locks for long.

/// Rows of one batch, unless a statement has a reason for another number.
pub(crate) const ROWS: i64 = 5_000;

/// Runs a batch again and again until it changes no row, and returns how many rows all batches
/// changed. Several processes may do the same at the same time if the statement skips locked rows.
pub(crate) async fn until_none<B, E>(mut batch: impl FnMut() -> B) -> Result<u64, E>
where
    B: Future<Output = Result<u64, E>>,
{
    let mut changed = 0;
    loop {
        match batch().await? {
            0 => return Ok(changed),
            rows => changed += rows,
        }
    }
}

/// What one sweep has forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// How many things are gone.
    pub removed: u64,
    /// Whether the sweep ended at a bound of its work, so that another one may find more.
    pub has_more: bool,
}

impl std::ops::AddAssign for Forgotten {
    fn add_assign(&mut self, other: Self) {
        self.removed += other.removed;
        self.has_more |= other.has_more;
    }
}
