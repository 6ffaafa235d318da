//! The right to write a checkpoint.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use super::Hold;

/// A checkpoint of a job is being written, and nothing else of it.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(super) hold: Arc<Hold>,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl Turn {
    /// The checkpoint is written: from now on, the row has the next number.
    pub(crate) fn advance(&self) {
        self.hold.advance();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.hold.expect_next(false);
    }
}
