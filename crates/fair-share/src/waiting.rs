//! Requests that wait for their share.

use std::hash::Hash;

use tokio::sync::oneshot;

use crate::{Limit, RoundRobin, Share};

/// All waiting requests.
#[derive(Debug)]
pub(crate) struct Waiting<K: Clone + Eq + Hash>(RoundRobin<K, Request<K>>);

/// A request in a line.
#[derive(Debug)]
pub(crate) struct Request<K: Clone + Eq + Hash> {
    pub(crate) amount: usize,
    pub(crate) limit: Limit,
    pub(crate) answer: oneshot::Sender<Share<K>>,
}

impl<K: Clone + Eq + Hash> Waiting<K> {
    pub(crate) fn new() -> Self {
        Self(RoundRobin::default())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many holders wait.
    pub(crate) fn holders(&self) -> usize {
        self.0.holders()
    }

    /// Puts a request at the end of its holder's line.
    pub(crate) fn join(
        &mut self,
        holder: &K,
        amount: usize,
        limit: Limit,
    ) -> oneshot::Receiver<Share<K>> {
        let (answer, receiver) = oneshot::channel();
        self.0.tidy(holder, |request| !request.answer.is_closed());
        self.0.push(
            holder,
            Request {
                amount,
                limit,
                answer,
            },
        );
        receiver
    }

    /// Takes out the first request of the holder whose turn it is.
    pub(crate) fn next(&mut self) -> Option<(K, Request<K>)> {
        loop {
            let (holder, request) = self.0.pop()?;
            if !request.answer.is_closed() {
                return Some((holder, request));
            }
        }
    }

    /// The request stays first in its line, and its holder stays next.
    pub(crate) fn keep_turn(&mut self, holder: &K, request: Request<K>) {
        self.0.put_back_first(holder, request);
    }

    /// The request stays first in its line, and the next holder has its turn.
    pub(crate) fn pass_over(&mut self, holder: &K, request: Request<K>) {
        self.0.put_back(holder, request);
    }
}
