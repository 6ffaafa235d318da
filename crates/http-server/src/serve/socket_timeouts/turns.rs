//! Whose turn it is on a connection.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Whose turn it is on a connection: even while we wait for a request, odd while we work on one.
#[derive(Clone, Default)]
pub(crate) struct Turns(Arc<AtomicUsize>);

/// Our turn. Dropping it ends the turn.
pub(crate) struct OurTurn(Turns);

impl Turns {
    /// A request has arrived.
    pub(crate) fn take(&self) -> OurTurn {
        self.0.fetch_add(1, Ordering::Relaxed);
        OurTurn(self.clone())
    }

    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for OurTurn {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}
