//! How slots are divided among groups and lanes.

use uuid::Uuid;

use super::*;

/// Starts jobs of a lane until there is no room, and returns their slots.
fn fill(slots: &Arc<Slots>, group: u128, lane: u128) -> Vec<Slot> {
    let (group, lane) = (Group(Uuid::from_u128(group)), Lane(Uuid::from_u128(lane)));
    let mut taken = Vec::new();
    let mut running = slots.lock();
    for _ in 0..1_000 {
        let room = running.room(group);
        if !running.has_room(group, lane, room) {
            break;
        }
        taken.push(slots.take(&mut running, group, lane));
    }
    drop(running);
    taken
}

#[test]
fn a_greedy_group_leaves_as_much_as_it_has() {
    let slots = Slots::new(Some(60));
    let first = fill(&slots, 1, 1);
    assert_eq!(first.len(), 30);
    assert_eq!(fill(&slots, 2, 2).len(), 15, "half of what was left");
}

#[test]
fn two_greedy_groups_come_to_a_third_each() {
    let slots = Slots::new(Some(60));
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..60 {
        for (n, taken) in (1..).zip(&mut taken) {
            let id = Uuid::from_u128(n);
            let mut running = slots.lock();
            if running.room(Group(id)) > 0 {
                taken.push(slots.take(&mut running, Group(id), Lane(id)));
            }
        }
    }
    assert_eq!(taken.each_ref().map(Vec::len), [20, 20]);
}

#[test]
fn a_slow_lane_leaves_room_to_the_others_of_its_group() {
    let slots = Slots::new(Some(80));
    let slow = fill(&slots, 1, 11);
    assert_eq!(slow.len(), 20, "half of the half that its group may have");
    assert_eq!(fill(&slots, 1, 12).len(), 10);
}

#[test]
fn the_last_slot_is_for_a_newcomer() {
    let slots = Slots::new(Some(4));
    let taken: Vec<_> = (1..=4).flat_map(|n| fill(&slots, n, n)).collect();
    assert_eq!(taken.len(), 4);
    let of_first = taken.iter().filter(|slot| slot.group.0.as_u128() == 1);
    assert_eq!(of_first.count(), 2);
    drop(taken);
    assert!(slots.lock().groups.is_empty(), "nobody is remembered");
}

#[test]
fn a_single_slot_is_for_anybody() {
    let slots = Slots::new(Some(1));
    assert_eq!(fill(&slots, 1, 11).len(), 1);
    assert_eq!(fill(&slots, 2, 2).len(), 1);
}

#[test]
fn a_worker_that_did_not_say_how_many_it_has_counts_nothing() {
    let slots = Slots::new(None);
    let mut running = slots.lock();
    let id = Uuid::from_u128(1);
    let taken = slots.take(&mut running, Group(id), Lane(id));
    assert_eq!(running.total, 0);
    drop(running);
    drop(taken);
}
