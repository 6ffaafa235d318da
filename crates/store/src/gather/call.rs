//! A call: what a caller asks, where the answer goes, and the place that it takes while it waits.

use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use fair_share::Share;
use tokio::sync::oneshot;

/// One caller: its question, and where the answer goes.
pub struct Call<Q, A, H: Clone + Eq + Hash = ()> {
    /// What it asks.
    pub question: Q,
    /// Since when it waits.
    pub since: Instant,
    pub(super) weight: usize,
    pub(super) reply: oneshot::Sender<A>,
    pub(super) away: Arc<AtomicBool>,
    pub(super) _bytes: Share<H>,
}

impl<Q, A, H: Clone + Eq + Hash> Call<Q, A, H> {
    /// Answers the caller, which may have gone away in the meantime.
    pub fn answer(self, answer: A) {
        self.away.store(false, Ordering::Relaxed);
        let _ = self.reply.send(answer);
    }

    /// Whether the caller has gone away.
    pub(crate) fn is_over(&self) -> bool {
        self.reply.is_closed()
    }

    /// Tells the caller that the database did not answer.
    pub fn give_up(self) {
        self.away.store(true, Ordering::Relaxed);
    }
}

/// A call on its way to a batch.
pub(super) struct Waiting<Q, A, H: Clone + Eq + Hash> {
    pub(super) holder: H,
    pub(super) call: Call<Q, A, H>,
    /// Its waiting place.
    pub(super) place: Share<H>,
}

/// A call that has a place, and the receiver of its answer.
pub(super) type Placed<Q, A, H> = (Waiting<Q, A, H>, oneshot::Receiver<A>);
