//! A compilation that several jobs may wait for.

use std::{error::Error, fmt, sync::Arc};

use tokio::sync::watch;

use super::{
    Shared,
    compiled::{Compiled, Key},
};
use crate::lock::lock;

/// A running compilation and its result. An error goes to all who wait, and is not kept.
pub(super) type Flight = watch::Receiver<Option<Result<Compiled, Shareable>>>;

/// An error that several callers get.
#[derive(Clone, Debug)]
pub(super) struct Shareable(pub(super) Arc<dyn Error + Send + Sync>);

impl fmt::Display for Shareable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shareable {
    /// The original error: `is_outage` searches the chain of sources.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// Ends a flight, even one that panicked.
pub(super) struct Landing {
    pub(super) shared: Arc<Shared>,
    pub(super) key: Key,
}

impl Drop for Landing {
    fn drop(&mut self) {
        lock(&self.shared.flights).remove(&self.key);
    }
}
