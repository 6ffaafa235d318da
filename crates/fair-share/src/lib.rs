//! Divides a bounded resource (slots, sockets, bytes) among its holders, so that no holder can use it up.
//!
//! A holder may have at most as much as remains free. A single greedy holder gets a half, two get a
//! third each, and so on, so a newcomer always finds room. This is the dynamic threshold of shared
//! switch buffers (Choudhury and Hahne, 1998). It needs no setting, and unlike a fixed share it
//! wastes little while others ask for nothing. Holders are teams or addresses.
//!
//! Resources that are limited only by time, such as requests, are divided by a [`Pacer`]: each
//! holder has a number per second.
//!
//! Callers that can wait use [`Shares::take`], which serves the waiting holders in turn: a thousand requests of one holder
//! delay another holder's request by one, not by a thousand.

mod client_address;
mod pacer;
mod round_robin;
mod share;
mod state;
#[cfg(test)]
mod tests;
mod waiting;

use std::{
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use client_address::{Proxies, client};
pub use pacer::{Pacer, Rate, TooFar};
pub use round_robin::RoundRobin;
pub use share::Share;
use state::{Denied, State};
use waiting::Request;

/// A bounded resource. Clones of the [`Arc`] are the same one.
#[derive(Debug)]
pub struct Shares<K: Clone + Eq + Hash> {
    capacity: usize,
    state: Mutex<State<K>>,
}

/// How much of the resource a holder may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most as much as remains free. A holder that has nothing may take the last.
    Fair,
    /// Everything.
    Capacity,
}

/// The holder can have no more now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

impl<K: Clone + Eq + Hash> Shares<K> {
    /// A resource of `capacity` units, all free.
    pub fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity,
            state: Mutex::new(State::new()),
        })
    }

    /// An empty share, which can [grow](Share::grow).
    pub fn share(self: &Arc<Self>, holder: K, limit: Limit) -> Share<K> {
        self.share_of(holder, 0, limit)
    }

    /// Takes `amount` units at once, or nothing. Ignores waiting requests.
    ///
    /// # Errors
    /// The holder can have no more now.
    pub fn try_take(
        self: &Arc<Self>,
        holder: K,
        amount: usize,
        limit: Limit,
    ) -> Result<Share<K>, Spent> {
        let mut share = self.share(holder, limit);
        share.grow(amount)?;
        Ok(share)
    }

    /// Waits until the holder can have `amount` units. More than the capacity counts as the
    /// capacity.
    ///
    /// Requests of one holder are served in their order, holders in turn. Dropping the future withdraws the request.
    pub async fn take(self: &Arc<Self>, holder: K, amount: usize, limit: Limit) -> Share<K> {
        let amount = amount.min(self.capacity);
        let (answer, granted) = {
            let mut state = self.lock();
            if state.waiting.is_empty()
                && state.grant(self.capacity, &holder, amount, limit).is_ok()
            {
                drop(state);
                return self.share_of(holder, amount, limit);
            }
            let answer = state.waiting.join(&holder, amount, limit);
            (answer, self.serve_waiting(&mut state))
        };
        send(granted);
        // The other end is dropped only after an answer.
        answer.await.unwrap_or_else(|_| self.share(holder, limit))
    }

    /// How many units are taken.
    pub fn in_use(&self) -> usize {
        self.lock().in_use
    }

    /// How many units there are.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many holders have something.
    pub fn holders(&self) -> usize {
        self.lock().held.len()
    }

    fn give_back(self: &Arc<Self>, holder: &K, amount: usize) {
        let granted = {
            let mut state = self.lock();
            state.release(holder, amount);
            self.serve_waiting(&mut state)
        };
        send(granted);
    }

    /// Grants what can be granted to waiting requests, holder by holder.
    fn serve_waiting(self: &Arc<Self>, state: &mut State<K>) -> Vec<(Request<K>, Share<K>)> {
        let mut granted = Vec::new();
        let mut passed_over = 0;
        while passed_over < state.waiting.holders() {
            let Some((holder, request)) = state.waiting.next() else {
                break;
            };
            match state.grant(self.capacity, &holder, request.amount, request.limit) {
                Ok(()) => {
                    let share = self.share_of(holder, request.amount, request.limit);
                    granted.push((request, share));
                    passed_over = 0;
                }
                // The next holder in turn gets what becomes free, so that large requests are
                // served, too.
                Err(Denied::Full) => {
                    state.waiting.keep_turn(&holder, request);
                    break;
                }
                Err(Denied::Greedy) => {
                    state.waiting.pass_over(&holder, request);
                    passed_over += 1;
                }
            }
        }
        granted
    }

    /// A share whose amount has been granted.
    fn share_of(self: &Arc<Self>, holder: K, amount: usize, limit: Limit) -> Share<K> {
        Share {
            of: Arc::clone(self),
            holder,
            limit,
            amount,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        // Numbers change only after all checks, so a panic elsewhere leaves them consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers requests. Called without the lock, because the share of a request that was withdrawn is dropped here.
fn send<K: Clone + Eq + Hash>(granted: Vec<(Request<K>, Share<K>)>) {
    for (request, share) in granted {
        let _ = request.answer.send(share);
    }
}
