//! A resource, its shares, and the requests that wait for one.

use std::{
    collections::HashMap,
    hash::Hash,
    iter,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::RoundRobin;

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
            state: Mutex::new(State {
                in_use: 0,
                held: HashMap::new(),
                waiting: RoundRobin::default(),
            }),
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
            let (answer, receiver) = oneshot::channel();
            let request = Request {
                amount,
                limit,
                answer,
            };
            state.waiting.tidy(&holder, Request::is_wanted);
            state.waiting.push(&holder, request);
            (receiver, self.serve_waiting(&mut state))
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
            let mut waiting = iter::from_fn(|| state.waiting.pop());
            let Some((holder, request)) = waiting.find(|(_, request)| request.is_wanted()) else {
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
                    state.waiting.put_back_first(&holder, request);
                    break;
                }
                Err(Denied::Greedy) => {
                    state.waiting.put_back(&holder, request);
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

/// A part of the resource, given back when dropped.
#[derive(Debug)]
pub struct Share<K: Clone + Eq + Hash> {
    of: Arc<Shares<K>>,
    holder: K,
    limit: Limit,
    amount: usize,
}

impl<K: Clone + Eq + Hash> Share<K> {
    /// Makes it larger by `more` units.
    ///
    /// # Errors
    /// The holder can have no more now. The share stays as it is.
    pub fn grow(&mut self, more: usize) -> Result<(), Spent> {
        self.of
            .lock()
            .grant(self.of.capacity, &self.holder, more, self.limit)
            .map_err(|_| Spent)?;
        self.amount += more;
        Ok(())
    }

    /// Its size in units.
    pub fn amount(&self) -> usize {
        self.amount
    }
}

impl<K: Clone + Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.of.give_back(&self.holder, self.amount);
        }
    }
}

/// Why a holder cannot have an amount now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denied {
    /// The holder would have more than remains free.
    Greedy,
    /// The holder may have it, but it is not free.
    Full,
}

/// Who has how much of a resource, and who waits for it.
#[derive(Debug)]
struct State<K: Clone + Eq + Hash> {
    in_use: usize,
    /// Holders that have something. Nobody else is remembered.
    held: HashMap<K, usize>,
    waiting: RoundRobin<K, Request<K>>,
}

impl<K: Clone + Eq + Hash> State<K> {
    fn grant(
        &mut self,
        capacity: usize,
        holder: &K,
        more: usize,
        limit: Limit,
    ) -> Result<(), Denied> {
        let free = capacity - self.in_use;
        let had = self.held.get(holder).copied().unwrap_or_default();
        if limit == Limit::Fair && had > 0 && had + more > free.saturating_sub(more) {
            return Err(Denied::Greedy);
        }
        if more > free {
            return Err(Denied::Full);
        }
        if more > 0 {
            self.in_use += more;
            *self.held.entry(holder.clone()).or_default() += more;
        }
        Ok(())
    }

    fn release(&mut self, holder: &K, amount: usize) {
        self.in_use -= amount;
        if let Some(held) = self.held.get_mut(holder) {
            *held -= amount;
            if *held == 0 {
                self.held.remove(holder);
            }
        }
    }
}

/// A request that waits for its share.
#[derive(Debug)]
struct Request<K: Clone + Eq + Hash> {
    amount: usize,
    limit: Limit,
    answer: oneshot::Sender<Share<K>>,
}

impl<K: Clone + Eq + Hash> Request<K> {
    /// Whether somebody still waits for it.
    fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }
}

#[cfg(test)]
mod tests;
