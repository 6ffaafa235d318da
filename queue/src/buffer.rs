//! Jobs claimed and not yet started, handed out fairly by lane: a newcomer's job goes next, whatever
//! was claimed before it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use futures::task::AtomicWaker;
use tokio::sync::Notify;

use crate::Lane;

#[derive(Debug)]
pub(crate) struct Buffer<T> {
    capacity: usize,
    lanes: Mutex<Lanes<T>>,
    /// The worker that waits for a job.
    taker: AtomicWaker,
    /// The claims that wait for room.
    taken: Notify,
}

#[derive(Debug)]
struct Lanes<T> {
    /// The jobs of each lane that has any, in the order of their claims.
    jobs: HashMap<Lane, VecDeque<T>>,
    /// The same lanes; the front one is next.
    turns: VecDeque<Lane>,
    len: usize,
    closed: bool,
}

impl<T> Buffer<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let lanes = Lanes {
            jobs: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
            closed: false,
        };
        Self {
            capacity,
            lanes: Mutex::new(lanes),
            taker: AtomicWaker::new(),
            taken: Notify::new(),
        }
    }

    /// Adds jobs and wakes the worker.
    pub(crate) fn push(&self, jobs: impl IntoIterator<Item = (Lane, T)>) {
        let mut lanes = self.lock();
        for (lane, job) in jobs {
            let waiting = lanes.jobs.entry(lane).or_default();
            waiting.push_back(job);
            if waiting.len() == 1 {
                lanes.turns.push_back(lane);
            }
            lanes.len += 1;
        }
        drop(lanes);
        self.taker.wake();
    }

    /// The next job, once there is one; none when the buffer was closed.
    pub(crate) fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // Registered first: a push between the look and the registration would be missed.
        self.taker.register(cx.waker());
        let mut lanes = self.lock();
        if lanes.closed {
            return Poll::Ready(None);
        }
        match lanes.take() {
            Some(job) => {
                drop(lanes);
                self.taken.notify_one();
                Poll::Ready(Some(job))
            }
            None => Poll::Pending,
        }
    }

    /// Waits until half of the buffer is free, and returns how many jobs it can take.
    pub(crate) async fn room(&self) -> usize {
        loop {
            let free = self.capacity.saturating_sub(self.lock().len);
            if free >= self.capacity.div_ceil(2) {
                return free;
            }
            self.taken.notified().await;
        }
    }

    /// Hands out nothing more, and returns what is left.
    pub(crate) fn close(&self) -> Vec<T> {
        let mut lanes = self.lock();
        lanes.closed = true;
        let left = std::iter::from_fn(|| lanes.take()).collect();
        drop(lanes);
        self.taker.wake();
        left
    }

    fn lock(&self) -> MutexGuard<'_, Lanes<T>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Lanes<T> {
    fn take(&mut self) -> Option<T> {
        let lane = self.turns.pop_front()?;
        let waiting = self.jobs.get_mut(&lane)?;
        let job = waiting.pop_front();
        if waiting.is_empty() {
            self.jobs.remove(&lane);
        } else {
            self.turns.push_back(lane);
        }
        self.len -= usize::from(job.is_some());
        job
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn lane(n: u128) -> Lane {
        Lane(Uuid::from_u128(n))
    }

    #[test]
    fn a_newcomer_goes_next_and_a_lane_keeps_its_order() {
        let buffer = Buffer::new(8);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        buffer.push([(lane(1), "a1"), (lane(1), "a2"), (lane(1), "a3")]);
        assert_eq!(buffer.poll_take(&mut cx), Poll::Ready(Some("a1")));
        buffer.push([(lane(2), "b1"), (lane(2), "b2")]);
        let order: Vec<_> = (0..4).map(|_| buffer.poll_take(&mut cx)).collect();
        assert_eq!(
            order,
            ["a2", "b1", "a3", "b2"].map(|job| Poll::Ready(Some(job)))
        );
        assert_eq!(buffer.poll_take(&mut cx), Poll::Pending);
    }

    #[test]
    fn a_closed_buffer_gives_back_what_it_held() {
        let buffer = Buffer::new(8);
        buffer.push([(lane(1), 1), (lane(2), 2)]);
        assert_eq!(buffer.close(), [1, 2]);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert_eq!(buffer.poll_take(&mut cx), Poll::Ready(None));
    }
}
