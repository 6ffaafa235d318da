//! A run that may be dropped before its end.

use std::sync::Arc;

use ::metrics::Gauge;

use crate::{
    in_flight::InFlightJob,
    outcome::{Ended, Outcome},
    shared::Shared,
    slots::Slot,
};

/// A run that is given back, uncharged, when it is dropped before its end.
pub(super) struct Interruptible {
    pub(super) shared: Arc<Shared>,
    pub(super) busy: Gauge,
    /// Freed together with the run.
    pub(super) _slot: Option<Slot>,
    pub(super) in_flight: Option<Arc<InFlightJob>>,
}

impl Interruptible {
    /// Waits for room in the finisher's inbox. During an outage, the slot stays taken, and no new
    /// job starts. This cannot cause a deadlock, because the finisher waits only for the database,
    /// on its own connection.
    pub(super) async fn end(&mut self, outcome: Outcome) {
        if let Some(in_flight) = self.in_flight.take() {
            self.shared.inbox.send(Ended { in_flight, outcome }).await;
        }
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        self.busy.decrement(1.0);
        if let Some(in_flight) = self.in_flight.take() {
            self.shared.inbox.post(Ended {
                in_flight,
                outcome: Outcome::Released,
            });
        }
    }
}
