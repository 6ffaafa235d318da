//! Caches of lazily built automata: kept for the next text, within limits.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Caches, each for an automaton that is identified by its key. A search takes one out and puts it
/// back.
pub(super) struct Caches<K, C> {
    kept: Mutex<Kept<K, C>>,
    most_bytes: usize,
}

struct Kept<K, C> {
    /// The one that was put back last is at the end.
    caches: VecDeque<(K, C, usize)>,
    bytes: usize,
}

impl<K: PartialEq, C> Caches<K, C> {
    /// Nothing is kept yet, and never more than this many bytes.
    pub(super) const fn new(most_bytes: usize) -> Self {
        Self {
            kept: Mutex::new(Kept {
                caches: VecDeque::new(),
                bytes: 0,
            }),
            most_bytes,
        }
    }

    pub(super) const fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// A cache of this automaton that nobody else uses, if there is one.
    pub(super) fn take(&self, key: &K) -> Option<C> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.caches.iter().rposition(|(of, _, _)| of == key)?;
        let (_, cache, bytes) = kept.caches.remove(at)?;
        kept.bytes -= bytes;
        Some(cache)
    }

    /// Keeps a cache of this many bytes. The least recently used ones are dropped first.
    pub(super) fn put_back(&self, key: K, cache: C, bytes: usize) {
        let mut dropped = Vec::new();
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.caches.push_back((key, cache, bytes));
            kept.bytes += bytes;
            while kept.bytes > self.most_bytes {
                let Some(oldest) = kept.caches.pop_front() else {
                    break;
                };
                kept.bytes -= oldest.2;
                dropped.push(oldest);
            }
        }
        // Freeing memory takes a while, so it happens after the lock is released.
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_used_makes_room_and_what_is_too_large_is_not_kept() {
        let caches = Caches::new(10);
        for key in [1, 2, 3] {
            caches.put_back(key, key, 4);
        }
        assert_eq!(caches.take(&1), None);
        assert_eq!(caches.take(&2), Some(2));
        assert_eq!(caches.take(&2), None);
        caches.put_back(4, 4, 11);
        assert_eq!((caches.take(&3), caches.take(&4)), (None, None));
    }
}
