//! A part of a resource, given back when dropped.

use std::{hash::Hash, sync::Arc};

use crate::{Limit, Shares, Spent};

/// A part of the resource, given back when dropped.
#[derive(Debug)]
pub struct Share<K: Clone + Eq + Hash> {
    pub(super) of: Arc<Shares<K>>,
    pub(super) holder: K,
    pub(super) limit: Limit,
    pub(super) amount: usize,
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
