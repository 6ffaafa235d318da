//! One transaction for all use cases of a request that only read. They run one after another, look up the credential
//! once, and see the database at one moment.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::begin::Begun;
use crate::Credential;

/// The transaction in which a request reads. It begins with the first use case. It ends when this is dropped, when a use
/// case ends it before work that takes long, or when the request changes something.
#[derive(Default)]
pub struct Snapshot(Mutex<Option<(Credential, Begun)>>);

impl Snapshot {
    /// The transaction, if it has begun for this credential and no use case has it now. The transaction of another
    /// credential is ended, so that no request waits for a second connection while it holds the first.
    pub(super) fn take(&self, credential: Credential) -> Option<Begun> {
        let (of, begun) = self.lock().take()?;
        (of == credential).then_some(begun)
    }

    /// Ends the transaction.
    pub(super) fn end(&self) {
        let ended = self.lock().take();
        drop(ended);
    }

    fn give_back(&self, credential: Credential, begun: Begun) {
        let earlier = self.lock().replace((credential, begun));
        drop(earlier);
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Credential, Begun)>> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transaction that a use case has. When the use case is done, the request's snapshot gets it back, if there is one.
pub(super) struct Lent {
    begun: Option<Begun>,
    by: Option<(Arc<Snapshot>, Credential)>,
}

impl Lent {
    /// A transaction that ends with its use case.
    pub(super) fn once(begun: Begun) -> Self {
        Self {
            begun: Some(begun),
            by: None,
        }
    }

    /// A transaction that the next use case gets, too.
    pub(super) fn by(snapshot: &Arc<Snapshot>, credential: Credential, begun: Begun) -> Self {
        Self {
            begun: Some(begun),
            by: Some((Arc::clone(snapshot), credential)),
        }
    }

    /// Keeps the transaction from the next use case.
    pub(super) fn keep(mut self) -> Begun {
        self.begun.take().expect(HAS_ONE)
    }
}

/// Only [`Lent::keep`] and the end take the transaction out.
const HAS_ONE: &str = "a use case has its transaction until it ends";

impl Deref for Lent {
    type Target = Begun;

    fn deref(&self) -> &Begun {
        self.begun.as_ref().expect(HAS_ONE)
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Begun {
        self.begun.as_mut().expect(HAS_ONE)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(begun), Some((snapshot, credential))) = (self.begun.take(), &self.by) {
            snapshot.give_back(*credential, begun);
        }
    }
}
