//! A claimer also takes new jobs that its own process has inserted for it, without a claim.

use std::{sync::Arc, time::Instant};

use serde::de::DeserializeOwned;

use super::{Claimer, Ready};
use crate::{
    BackendSettings, Bound, DeathCause, Group, Lane,
    buffer::Aside,
    in_flight::{Claim, Hold},
    outcome::{Ended, Outcome, bounded},
    local_workers::{Places, Taker},
};

impl<A: DeserializeOwned + Send + 'static> Taker for Claimer<A> {
    fn settings(&self) -> &BackendSettings {
        &self.settings
    }

    fn set_aside(self: Arc<Self>, group: Group, lane: Lane, wanted: usize) -> Box<dyn Places> {
        let wanted = if self.stop.is_cancelled() { 0 } else { wanted };
        let aside = self.buffer.set_aside(group, lane, wanted);
        Box::new(InBuffer {
            claimer: self,
            aside,
        })
    }

    fn bound(&self) -> Option<Bound> {
        self.held_back_by()
    }

    fn hold(&self, claim: Claim, since: Instant) -> Option<Arc<Hold>> {
        Hold::new(claim, since, &self.shared.holds, self.pending.token())
    }
}

struct InBuffer<A> {
    claimer: Arc<Claimer<A>>,
    aside: Aside<Ready<A>>,
}

impl<A: DeserializeOwned + Send + 'static> Places for InBuffer<A> {
    fn jobs(&self) -> usize {
        self.aside.jobs()
    }

    fn fill(self: Box<Self>, jobs: Vec<(Arc<Hold>, &str)>) {
        let Self { claimer, aside } = *self;
        let inbox = &claimer.shared.inbox;
        let mut ready = Vec::new();
        for (hold, payload) in jobs {
            match serde_json::from_str(payload) {
                Ok(args) => ready.push(Ready { hold, args }),
                Err(error) => {
                    let outcome = Outcome::Dead {
                        cause: DeathCause::Undecodable,
                        error: bounded(error),
                    };
                    inbox.post(Ended { hold, outcome });
                }
            }
        }
        for Ready { hold, .. } in aside.fill(ready) {
            let outcome = Outcome::Released;
            inbox.post(Ended { hold, outcome });
        }
    }
}
