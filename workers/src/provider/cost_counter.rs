//! What one provider cost since it was last stored: requests, tokens and units. Stored once a minute, and when the process stops.

use std::{collections::BTreeMap, mem, sync::Mutex};

use crate::lock::lock;

/// What is counted, as `provider_costs` names it, and how many.
pub(super) type Amounts = BTreeMap<&'static str, u64>;

/// The counts of one provider.
#[derive(Debug, Default)]
pub(super) struct CostCounter(Mutex<Amounts>);

impl CostCounter {
    /// Counts more.
    pub(super) fn add(&self, what: &'static str, amount: u64) {
        if amount > 0 {
            let mut amounts = lock(&self.0);
            let count = amounts.entry(what).or_default();
            *count = count.saturating_add(amount);
        }
    }

    /// Takes all counts, to store them.
    pub(super) fn take(&self) -> Amounts {
        mem::take(&mut *lock(&self.0))
    }

    /// Counts again what could not be stored.
    pub(super) fn put_back(&self, amounts: Amounts) {
        for (what, amount) in amounts {
            self.add(what, amount);
        }
    }
}
