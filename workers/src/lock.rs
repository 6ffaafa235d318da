//! Locks a mutex whose holders never panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it is locked, so the value is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
