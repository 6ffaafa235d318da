//! What holds the jobs of a backend back now.

use serde::de::DeserializeOwned;
use sqlx::PgPool;

use super::Claimer;
use crate::Bound;

impl<A: DeserializeOwned + Send + 'static> Claimer<A> {
    /// The first that applies. Without claims, nothing else is known. Jobs that wait for a provider
    /// occupy slots, so slots do not count then. Caps and receivers hold back only some lanes, so
    /// they come last.
    pub(super) fn held_back_by(&self) -> Option<Bound> {
        let (shared, queue) = (&self.shared, self.settings.queue);
        let says = |bound| shared.waits.any(queue, bound);
        if self.stop.is_cancelled() {
            return None;
        }
        if self.progress.fails() || !shared.lease.is_held() {
            return Some(Bound::Database);
        }
        if says(Bound::ProviderLimit) {
            return Some(Bound::ProviderLimit);
        }
        let of_slots = self.buffer.bound().or_else(|| {
            let mut of_handlers = [Bound::Slots, Bound::TeamShare].into_iter();
            of_handlers.find(|bound| says(*bound))
        });
        match of_slots {
            // With more slots, more jobs would wait for a connection.
            Some(_) if is_used_up(&shared.pool) => Some(Bound::Database),
            Some(bound) => Some(bound),
            None if self.progress.is_slow() => Some(Bound::Database),
            None if self.progress.is_capped() => Some(Bound::Cap),
            None => says(Bound::EndpointPace).then_some(Bound::EndpointPace),
        }
    }
}

fn is_used_up(pool: &PgPool) -> bool {
    pool.num_idle() == 0 && pool.size() >= pool.options().get_max_connections()
}
