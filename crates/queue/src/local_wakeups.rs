//! Wake-ups within this process: claimers sleep while their queue is empty, and are woken here.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::{Notify, watch};

use crate::lock::lock;

/// The sleeping claimers of this process, and the queues that other processes must still be told
/// about.
#[derive(Debug, Default)]
pub(crate) struct LocalWakeups {
    queues: Mutex<HashMap<&'static str, Arc<Waker>>>,
    unsent: Mutex<BTreeSet<&'static str>>,
    sender: Notify,
}

/// Wakes the claimers of one queue in this process.
#[derive(Debug, Default)]
pub(crate) struct Waker {
    /// Counts the calls. A sleeper compares the count, so that no call between its claim and its
    /// sleep is lost.
    calls: watch::Sender<u64>,
    /// Set while a claim may leave jobs behind because their lane is at its cap.
    capped: AtomicBool,
}

impl Waker {
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.calls.subscribe()
    }

    fn wake(&self) {
        self.calls
            .send_modify(|calls| *calls = calls.wrapping_add(1));
    }

    pub(crate) fn set_capped(&self, capped: bool) {
        self.capped.store(capped, Ordering::SeqCst);
    }
}

impl LocalWakeups {
    /// The waker of a queue that this process works on.
    pub(crate) fn of(&self, queue: &'static str) -> Arc<Waker> {
        lock(&self.queues).entry(queue).or_default().clone()
    }

    /// Announces new jobs: wakes this process at once and the others soon.
    pub(crate) fn wake(&self, queues: impl IntoIterator<Item = &'static str>) {
        let mut unsent = lock(&self.unsent);
        for queue in queues {
            self.wake_here(queue);
            unsent.insert(queue);
        }
        if !unsent.is_empty() {
            self.sender.notify_one();
        }
    }

    /// Jobs of a queue ended: wakes this process if one of its lanes was at its cap.
    pub(crate) fn room(&self, queue: &'static str) {
        if let Some(waker) = lock(&self.queues).get(queue)
            && waker.capped.swap(false, Ordering::SeqCst)
        {
            waker.wake();
        }
    }

    /// Wakes the sleepers of this process, because something changed.
    pub(crate) fn wake_here(&self, queue: &str) {
        if let Some(waker) = lock(&self.queues).get(queue) {
            waker.wake();
        }
    }

    pub(crate) fn wake_all_here(&self) {
        for waker in lock(&self.queues).values() {
            waker.wake();
        }
    }

    /// Waits until there is something to tell the other processes.
    pub(crate) async fn unsent(&self) {
        self.sender.notified().await;
    }

    /// The queues that the other processes have not heard of yet.
    pub(crate) fn take_unsent(&self) -> BTreeSet<&'static str> {
        std::mem::take(&mut *lock(&self.unsent))
    }
}
