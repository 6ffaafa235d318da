//! Which job goes next, and who has room.

mod capacity;

use futures::FutureExt as _;
use uuid::Uuid;

use super::*;

fn group(n: u128) -> Group {
    Group(Uuid::from_u128(n))
}

fn lane(n: u128) -> Lane {
    Lane(Uuid::from_u128(n))
}

fn buffer<T>(prefetch: usize, slots: Option<usize>) -> Arc<Buffer<T>> {
    Arc::new(Buffer::new(prefetch, Slots::new(slots)))
}

/// Jobs of lanes that are groups of their own.
fn put<T>(buffer: &Buffer<T>, jobs: impl IntoIterator<Item = (u128, T)>) {
    put_in(buffer, jobs.into_iter().map(|(n, job)| (n, n, job)));
}

fn put_in<T>(buffer: &Buffer<T>, jobs: impl IntoIterator<Item = (u128, u128, T)>) {
    let jobs = jobs.into_iter();
    let left = buffer.push(jobs.map(|(n, m, job)| (group(n), lane(m), job)));
    assert!(left.is_none());
}

fn take<T>(buffer: &Buffer<T>) -> Option<(T, Slot)> {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    match buffer.poll_take(&mut cx) {
        Poll::Ready(taken) => taken,
        Poll::Pending => None,
    }
}

/// All jobs that may start, in their order, as long as no job ends.
fn started<T>(buffer: &Buffer<T>) -> (Vec<T>, Vec<Slot>) {
    std::iter::from_fn(|| take(buffer)).unzip()
}

#[test]
fn a_newcomer_goes_next_and_a_lane_keeps_its_order() {
    let buffer = buffer(8, None);
    put(&buffer, [(1, "a1"), (1, "a2"), (1, "a3")]);
    assert_eq!(take(&buffer).unwrap().0, "a1");
    put(&buffer, [(2, "b1"), (2, "b2")]);
    assert_eq!(started(&buffer).0, ["a2", "b1", "a3", "b2"]);
}

#[test]
fn groups_take_turns_and_so_do_their_lanes() {
    let buffer = buffer(16, None);
    // Group 1 has ten lanes, group 2 has one.
    put_in(&buffer, (0..10).map(|n| (1, 10 + n, format!("a{n}"))));
    put_in(&buffer, (0..3).map(|n| (2, 2, format!("b{n}"))));
    let order = started(&buffer).0;
    assert_eq!(order[..6], ["a0", "b0", "a1", "b1", "a2", "b2"]);
}

#[test]
fn a_group_without_a_slot_waits_and_delays_no_other() {
    let buffer = buffer(16, Some(4));
    put(&buffer, (0..8).map(|n| (1, n)));
    let (first, mut slots) = started(&buffer);
    assert_eq!(first, [0, 1], "a half");
    put(&buffer, [(2, 20)]);
    let (newcomer, _slot) = take(&buffer).unwrap();
    assert_eq!(newcomer, 20);
    assert!(take(&buffer).is_none());
    slots.pop();
    assert_eq!(take(&buffer).unwrap().0, 2);
}

#[test]
fn a_slow_lane_leaves_slots_to_the_others_of_its_group() {
    let buffer = buffer(64, Some(16));
    put_in(&buffer, (0..20).map(|n| (1, 11, n)));
    let slow = started(&buffer);
    assert_eq!(slow.0.len(), 4);
    put_in(&buffer, (0..20).map(|n| (1, 12, 100 + n)));
    let healthy = started(&buffer);
    assert_eq!(healthy.0, [100, 101]);
}

#[test]
fn what_keeps_jobs_from_starting_is_told() {
    let buffer = buffer(16, Some(4));
    assert_eq!(buffer.bottleneck(), None, "nothing waits");
    put(&buffer, (0..8).map(|n| (1, n)));
    assert_eq!(buffer.bottleneck(), None, "a job may start");
    let (_, mut slots) = started(&buffer);
    assert_eq!(buffer.bottleneck(), Some(Bottleneck::TeamShare));
    put(&buffer, [(2, 20)]);
    assert_eq!(buffer.bottleneck(), None, "the other group's job may start");
    slots.extend(started(&buffer).1);
    put(&buffer, [(3, 30)]);
    slots.extend(started(&buffer).1);
    assert_eq!(slots.len(), 4);
    assert_eq!(buffer.bottleneck(), Some(Bottleneck::Slots));
    buffer.close();
    assert_eq!(buffer.bottleneck(), None);
}

#[test]
fn a_job_that_waits_in_a_worker_without_known_slots_waits_for_one() {
    let buffer = buffer(1, None);
    put(&buffer, [(1, 1)]);
    assert_eq!(buffer.bottleneck(), Some(Bottleneck::Slots));
}

#[test]
fn a_closed_buffer_gives_back_what_it_held_and_takes_no_more() {
    let buffer = buffer(8, None);
    let room = buffer.room().now_or_never().unwrap();
    let reserved = buffer.reserve(group(3), lane(3), 1);
    put(&buffer, [(1, 1), (2, 2)]);
    let mut left = buffer.close();
    left.sort_unstable();
    assert_eq!(left, [1, 2]);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    assert!(matches!(buffer.poll_take(&mut cx), Poll::Ready(None)));
    assert_eq!(room.fill(vec![(group(1), lane(1), 4)]).len(), 1);
    assert_eq!(reserved.fill(vec![5]), [5]);
    assert_eq!(buffer.reserve(group(3), lane(3), 1).jobs(), 0);
}
