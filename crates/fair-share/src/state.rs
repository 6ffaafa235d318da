//! Who has how much of a resource, and who waits for it.

use std::{collections::HashMap, hash::Hash};

use crate::{Limit, waiting::Waiting};

/// Why a holder cannot have an amount now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The holder would have more than remains free.
    Greedy,
    /// The holder may have it, but it is not free.
    Full,
}

#[derive(Debug)]
pub(super) struct State<K: Clone + Eq + Hash> {
    pub(super) in_use: usize,
    /// Holders that have something. Nobody else is remembered.
    pub(super) held: HashMap<K, usize>,
    pub(super) waiting: Waiting<K>,
}

impl<K: Clone + Eq + Hash> State<K> {
    pub(super) fn new() -> Self {
        Self {
            in_use: 0,
            held: HashMap::new(),
            waiting: Waiting::new(),
        }
    }

    pub(super) fn grant(
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

    pub(super) fn release(&mut self, holder: &K, amount: usize) {
        self.in_use -= amount;
        if let Some(held) = self.held.get_mut(holder) {
            *held -= amount;
            if *held == 0 {
                self.held.remove(holder);
            }
        }
    }
}
