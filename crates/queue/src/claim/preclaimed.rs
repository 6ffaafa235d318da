//! Preclaimed jobs: a claimer also takes new jobs that its own process has inserted for it.

use std::{sync::Arc, time::Instant};

use serde::de::DeserializeOwned;

use super::{Claimer, Ready, decode};
use crate::{
    BackendSettings, Bottleneck, Group, Lane,
    buffer::Reserved,
    in_flight::{Claim, InFlightJob},
    local_workers::{LocalWorker, ReservedPlaces},
    outcome::{Ended, Outcome},
};

impl<A: DeserializeOwned + Send + 'static> LocalWorker for Claimer<A> {
    fn reserve(
        self: Arc<Self>,
        group: Group,
        lane: Lane,
        wanted: usize,
    ) -> Box<dyn ReservedPlaces> {
        let wanted = if self.stop.is_cancelled() { 0 } else { wanted };
        let reserved = self.buffer.reserve(group, lane, wanted);
        Box::new(InBuffer {
            claimer: self,
            reserved,
        })
    }

    fn bottleneck(&self) -> Option<Bottleneck> {
        self.held_back_by()
    }
}

struct InBuffer<A> {
    claimer: Arc<Claimer<A>>,
    reserved: Reserved<Ready<A>>,
}

impl<A: DeserializeOwned + Send + 'static> ReservedPlaces for InBuffer<A> {
    fn jobs(&self) -> usize {
        self.reserved.jobs()
    }

    fn settings(&self) -> &BackendSettings {
        &self.claimer.settings
    }

    fn track(&self, claim: Claim, since: Instant) -> Option<Arc<InFlightJob>> {
        self.claimer.track(claim, since)
    }

    fn fill(self: Box<Self>, jobs: Vec<(Arc<InFlightJob>, &str)>) {
        let Self { claimer, reserved } = *self;
        let inbox = &claimer.shared.inbox;
        let mut ready = Vec::new();
        for (in_flight, payload) in jobs {
            match decode(in_flight, payload) {
                Ok(job) => ready.push(job),
                Err(undecodable) => inbox.post(undecodable),
            }
        }
        for Ready { in_flight, .. } in reserved.fill(ready) {
            let outcome = Outcome::Released;
            inbox.post(Ended { in_flight, outcome });
        }
    }
}
