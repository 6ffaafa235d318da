//! Caps of a group and of its lanes, while two claims are under way (`migrations/9_claim.sql`):
//! both are exact in every reachable state, no claim waits for ever, and each mechanism is needed.
//!
//! A claim tries the group's lock, then each lane's, then counts what runs in a snapshot of its
//! own, takes jobs, and commits. One statement is one action; a try-lock is one, too.

mod machine;
mod state;

use crate::checker::{ALL_ENDS, explore};

const GROUP_CAP: &str = "no more jobs of the group run than its cap allows";
const LANE_CAP: &str = "no more jobs of a lane run than its cap allows";

#[derive(Clone, Copy, Debug)]
struct Caps {
    /// `None` if the group has no cap, and so no lock.
    group_cap: Option<u8>,
    lane_cap: u8,
    /// The most claims.
    claims: u8,
    without: Option<Mechanism>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mechanism {
    /// A capped group is locked before what runs in it is counted.
    GroupsAreLocked,
    /// A lane is locked before what runs in it is counted.
    LanesAreLocked,
    /// The snapshot that counts is newer than the locks.
    CountsAreNewer,
    /// A claim that has a lane does not wait for the others that it cannot get at once.
    NobodyWaitsWithALane,
    /// A claim that waited for the group's lock ends. It does not go on to the lanes with what it
    /// has seen before.
    GroupsAreAwaitedAlone,
}

const CAPPED: Caps = Caps {
    group_cap: Some(1),
    lane_cap: 1,
    claims: 5,
    without: None,
};

const LANES_ONLY: Caps = Caps {
    group_cap: None,
    ..CAPPED
};

#[track_caller]
fn broken(caps: Caps, mechanism: Mechanism) -> &'static str {
    let crippled = Caps {
        without: Some(mechanism),
        ..caps
    };
    match explore(&crippled) {
        Ok(states) => panic!("{states} states, and {mechanism:?} is never missed"),
        Err(found) => found.promise,
    }
}

#[test]
fn caps_of_groups_and_lanes_are_exact_and_nobody_waits_for_ever() {
    for caps in [CAPPED, LANES_ONLY] {
        let states = explore(&caps).unwrap_or_else(|found| panic!("{found:?}"));
        assert!(states > 500, "{states}");
    }
}

#[test]
fn without_the_lock_of_a_group_two_claims_of_its_lanes_exceed_its_cap() {
    assert_eq!(broken(CAPPED, Mechanism::GroupsAreLocked), GROUP_CAP);
}

#[test]
fn without_the_lock_of_a_lane_two_claims_exceed_its_cap_whatever_its_group_is() {
    assert_eq!(broken(LANES_ONLY, Mechanism::LanesAreLocked), LANE_CAP);
}

#[test]
fn without_a_newer_snapshot_locks_do_not_help() {
    assert_eq!(broken(CAPPED, Mechanism::CountsAreNewer), GROUP_CAP);
    assert_eq!(broken(LANES_ONLY, Mechanism::CountsAreNewer), LANE_CAP);
}

#[test]
fn who_waits_with_a_lane_in_hand_waits_for_ever() {
    assert_eq!(
        broken(LANES_ONLY, Mechanism::NobodyWaitsWithALane),
        ALL_ENDS
    );
}

#[test]
fn who_waited_for_a_group_must_not_go_on_with_what_it_saw_before() {
    assert_eq!(broken(CAPPED, Mechanism::GroupsAreAwaitedAlone), GROUP_CAP);
}
