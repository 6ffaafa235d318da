//! Locks that a panic does not take away.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of somebody who held the lock: that is logged where it happens, and the
/// others go on.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
