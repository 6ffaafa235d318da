//! How much room claims and lanes get.

use super::*;

#[test]
fn two_claims_share_the_room_of_one_group() {
    let buffer = buffer(5, None);
    let first = buffer.room().now_or_never().unwrap();
    let second = buffer.room().now_or_never().unwrap();
    assert_eq!((first.jobs(), second.jobs()), (3, 3));
    assert_eq!(first.limits().group, 5);
    assert_eq!(second.limits().group, 2, "the first may bring three of it");
    drop(second);
    let jobs = (0..3).map(|n| (group(1), lane(1), n)).collect();
    assert!(first.fill(jobs).is_empty());
    let third = buffer.room().now_or_never().unwrap();
    assert_eq!(third.limits().groups, [(group(1), 0)]);
    assert_eq!(third.limits().group, 4);
}

#[test]
fn two_claims_are_under_way_while_many_groups_have_a_few_jobs_here() {
    let buffer = buffer(2_000, None);
    put(&buffer, (0..1_000).map(|n| (n % 100, n)));
    let first = buffer.room().now_or_never().unwrap();
    let second = buffer.room().now_or_never().unwrap();
    assert!(first.limits().has_room());
    assert!(second.limits().has_room());
    assert_eq!(
        second.limits().of(group(7)),
        495,
        "half of 3,010, less its 10 and what the first may bring"
    );
}

#[test]
fn the_next_claim_of_a_lone_group_begins_while_the_last_one_is_worked_off() {
    let buffer = buffer(2_000, None);
    put(&buffer, (0..1_000).map(|n| (1, n)));
    let first = buffer.room().now_or_never().unwrap();
    assert_eq!(first.limits().of(group(1)), 1_000);
    let second = buffer.room().now_or_never().unwrap();
    assert!(!second.limits().has_room());
}

#[test]
fn a_group_that_fills_its_share_leaves_room_to_a_newcomer() {
    let buffer = buffer(32, None);
    put(&buffer, (0..32).map(|n| (1, n)));
    let room = buffer.room().now_or_never().unwrap();
    assert_eq!(room.jobs(), 16);
    assert_eq!(room.limits().groups, [(group(1), 0)]);
    assert_eq!(room.limits().group, 16);
    let full = room.limits().full.clone();
    drop(room);
    assert!(buffer.eased(&full).now_or_never().is_none());
    // The room is enough for a claim once half of the group's part is free.
    for _ in 0..15 {
        take(&buffer).unwrap();
    }
    assert!(buffer.eased(&full).now_or_never().is_none());
    assert!(!buffer.has_room(group(1)));
    take(&buffer).unwrap();
    assert!(buffer.eased(&full).now_or_never().is_some());
    assert!(buffer.has_room(group(1)));
}

#[test]
fn so_does_a_lane_in_its_group() {
    let buffer = buffer(32, None);
    put_in(&buffer, (0..16).map(|n| (1, 11, n)));
    let room = buffer.room().now_or_never().unwrap();
    assert_eq!(room.limits().groups, [(group(1), 16)]);
    assert_eq!(room.limits().lanes, [(lane(11), 0)]);
    assert_eq!(room.limits().lane_has, 0);
}

/// Adds as many jobs of a group as a claim may bring.
fn bring(buffer: &Buffer<u128>, n: u128) -> usize {
    let Some(room) = buffer.some_room().now_or_never() else {
        return 0;
    };
    let limits = room.limits();
    let listed = limits.groups.iter().find(|(other, _)| *other == group(n));
    let most = listed.map_or(limits.group, |(_, room)| *room);
    let jobs = vec![(group(n), lane(n), n); most.min(room.jobs())];
    let brought = jobs.len();
    assert!(room.fill(jobs).is_empty());
    brought
}

#[test]
fn who_is_here_leaves_the_next_place_to_a_newcomer() {
    let buffer = buffer(8, None);
    for n in 1..=5 {
        while bring(&buffer, n) > 0 {}
    }
    assert_eq!(buffer.lock().len, 16, "8, 4, 2, 1 and 1");
    assert_eq!(bring(&buffer, 6), 0);
    assert_eq!(take(&buffer).unwrap().0, 1);
    for n in 1..=4 {
        assert_eq!(bring(&buffer, n), 0, "group {n}");
    }
    assert_eq!(bring(&buffer, 6), 1);
}

#[test]
fn a_claim_is_told_of_so_many_groups_and_no_more() {
    let buffer = buffer(20_000, None);
    for n in 1..=100 {
        put(&buffer, (0..n).map(|_| (n, ())));
        put_in(&buffer, (0..n).map(|_| (n, 1_000 + n, ())));
    }
    let first = buffer.room().now_or_never().unwrap();
    let room = buffer.room().now_or_never().unwrap();
    let limits = room.limits();
    assert_eq!(limits.groups.len(), 64);
    assert_eq!(limits.lanes.len(), 64);
    assert_eq!(limits.incoming, first.jobs());
    let (group_room, lane_has) = (limits.group, limits.lane_has);
    let listed: Vec<Group> = limits.groups.iter().map(|(group, _)| *group).collect();
    drop(room);
    let contents = buffer.lock();
    assert_eq!(lane_has, 36);
    for n in 1..=100 {
        assert_eq!(
            listed.contains(&group(n)),
            n > 36,
            "those that have the most"
        );
        if n <= 36 {
            let room = contents.room_of_group(group(n));
            assert!(group_room <= room, "what holds for all holds for {n}");
        }
    }
}

#[test]
fn places_set_aside_count_until_they_are_filled() {
    let buffer = buffer(8, None);
    let reserved = buffer.reserve(group(1), lane(11), 20);
    assert_eq!(reserved.jobs(), 4, "what a lane may have");
    let other = buffer.reserve(group(1), lane(12), 20);
    assert_eq!(other.jobs(), 2);
    assert_eq!(
        buffer.reserve(group(2), lane(2), 20).jobs(),
        2,
        "half of all is full"
    );
    assert!(reserved.fill(vec![1, 2, 3]).is_empty());
    drop(other);
    assert_eq!(buffer.lock().len, 3);
    assert_eq!(started(&buffer).0, [1, 2, 3]);
    assert_eq!(buffer.lock().len, 0);
    assert!(buffer.lock().groups.is_empty());
}
