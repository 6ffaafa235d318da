//! The permit to write a checkpoint.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use super::InFlightJob;

/// A checkpoint of a job is being written, and nothing else of it.
#[derive(Debug)]
pub(crate) struct WritePermit {
    pub(super) in_flight: Arc<InFlightJob>,
    pub(super) _permit: OwnedSemaphorePermit,
}

impl WritePermit {
    /// The checkpoint is written: from now on, the row has the next number.
    pub(crate) fn advance(&self) {
        self.in_flight.advance();
    }
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        self.in_flight.expect_next(false);
    }
}
