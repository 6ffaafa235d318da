//! What holds the jobs of a backend back now: its bottleneck.

use serde::de::DeserializeOwned;
use sqlx::PgPool;

use super::Claimer;
use crate::Bottleneck;

impl<A: DeserializeOwned + Send + 'static> Claimer<A> {
    /// The first that applies. Without claims, nothing else is known. Jobs that wait for a provider
    /// occupy slots, so slots do not count then. Caps and receivers hold back only some lanes, so
    /// they come last.
    pub(super) fn held_back_by(&self) -> Option<Bottleneck> {
        let (shared, queue) = (&self.shared, self.settings.queue);
        let says = |bound| shared.waits.any(queue, bound);
        if self.stop.is_cancelled() {
            return None;
        }
        if self.health.fails() || !shared.lease.is_held() {
            return Some(Bottleneck::Database);
        }
        if says(Bottleneck::ProviderLimit) {
            return Some(Bottleneck::ProviderLimit);
        }
        let of_slots = self.buffer.bottleneck().or_else(|| {
            let mut of_handlers = [Bottleneck::Slots, Bottleneck::TeamShare].into_iter();
            of_handlers.find(|bound| says(*bound))
        });
        match of_slots {
            // With more slots, more jobs would wait for a connection.
            Some(_) if is_used_up(&shared.pool) => Some(Bottleneck::Database),
            Some(bound) => Some(bound),
            None if self.health.is_slow() => Some(Bottleneck::Database),
            None if self.health.is_capped() => Some(Bottleneck::Cap),
            None => says(Bottleneck::EndpointPace).then_some(Bottleneck::EndpointPace),
        }
    }
}

fn is_used_up(pool: &PgPool) -> bool {
    pool.num_idle() == 0 && pool.size() >= pool.options().get_max_connections()
}
