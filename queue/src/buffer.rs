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
    /// Room that claims under way may fill.
    reserved: usize,
    closed: bool,
}

/// Room for jobs that a claim may bring; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Room<'a, T> {
    buffer: &'a Buffer<T>,
    jobs: usize,
}

impl<T> Room<'_, T> {
    /// For how many jobs.
    pub(crate) const fn jobs(&self) -> usize {
        self.jobs
    }

    /// Adds the jobs that came and wakes the worker.
    pub(crate) fn fill(self, jobs: impl IntoIterator<Item = (Lane, T)>) {
        self.buffer.push(jobs);
    }
}

impl<T> Drop for Room<'_, T> {
    fn drop(&mut self) {
        self.buffer.lock().reserved -= self.jobs;
        self.buffer.taken.notify_one();
    }
}

impl<T> Buffer<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let lanes = Lanes {
            jobs: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
            reserved: 0,
            closed: false,
        };
        Self {
            capacity,
            lanes: Mutex::new(lanes),
            taker: AtomicWaker::new(),
            taken: Notify::new(),
        }
    }

    fn push(&self, jobs: impl IntoIterator<Item = (Lane, T)>) {
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

    /// Waits until half of the buffer is free, and takes it for a claim: two claims can be under way at once.
    pub(crate) async fn room(&self) -> Room<'_, T> {
        let half = self.capacity.div_ceil(2);
        loop {
            {
                let mut lanes = self.lock();
                if self.capacity.saturating_sub(lanes.len + lanes.reserved) >= half {
                    lanes.reserved += half;
                    return Room {
                        buffer: self,
                        jobs: half,
                    };
                }
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
    use futures::FutureExt as _;
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
    fn two_claims_share_the_room_and_a_third_waits() {
        let buffer = Buffer::new(5);
        let first = buffer.room().now_or_never().unwrap();
        assert_eq!(first.jobs(), 3);
        assert!(
            buffer.room().now_or_never().is_none(),
            "2 are left, not half"
        );
        first.fill([(lane(1), "a1"), (lane(1), "a2")]);
        let second = buffer.room().now_or_never().unwrap();
        assert!(buffer.room().now_or_never().is_none());
        drop(second);
        assert!(buffer.room().now_or_never().is_some());
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
