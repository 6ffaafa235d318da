//! Requests with the same idempotency key that wait in one batch: the first is stored, and the
//! others get its answer.

use std::collections::{HashMap, hash_map::Entry};

use domain::{
    id::{SiteId, TeamId},
    idempotency::IdempotencyKey,
};

use super::{Acceptance, NewMedia};
use crate::gather::Call;

type Waiting = Call<NewMedia, Acceptance, TeamId>;

/// A request that is stored, and those that wait for its answer.
pub(super) struct Request {
    pub(super) first: Waiting,
    repetitions: Vec<Waiting>,
}

/// Sets apart all but the first of each idempotency key.
pub(super) fn gather(batch: Vec<Waiting>) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::with_capacity(batch.len());
    let mut first_of: HashMap<(SiteId, IdempotencyKey), usize> = HashMap::new();
    for call in batch {
        if let Some(idempotency) = &call.question.idempotency {
            let name = (call.question.site.id, idempotency.key.clone());
            match first_of.entry(name) {
                Entry::Occupied(first) => {
                    requests[*first.get()].repetitions.push(call);
                    continue;
                }
                Entry::Vacant(place) => place.insert(requests.len()),
            };
        }
        requests.push(Request {
            first: call,
            repetitions: Vec::new(),
        });
    }
    requests
}

impl Request {
    /// Answers all requests that the first one's acceptance decides, and returns those that must be
    /// stored themselves.
    pub(super) fn answer(self, acceptance: Acceptance) -> Vec<Waiting> {
        let Self { first, repetitions } = self;
        let (id, idempotency) = (first.question.id, first.question.idempotency.clone());
        first.answer(acceptance);
        let mut undecided = Vec::new();
        for call in repetitions {
            let is_same = call.question.idempotency == idempotency;
            match acceptance {
                Acceptance::Accepted if is_same => call.answer(Acceptance::Repeated(id)),
                Acceptance::Accepted | Acceptance::Repeated(_) if !is_same => {
                    call.answer(Acceptance::IdempotencyConflict);
                }
                _ if is_same => call.answer(acceptance),
                _ => undecided.push(call),
            }
        }
        undecided
    }

    /// All of it, as it came.
    pub(super) fn into_calls(self) -> impl Iterator<Item = Waiting> {
        std::iter::once(self.first).chain(self.repetitions)
    }
}
