//! Which requests wait after one met a limit, and when they may go on.

use super::*;

const LEASE: Duration = Duration::from_secs(25);
const NOTHING: Duration = Duration::ZERO;
const LARGE: Size = Size(8_000);
const SMALL: Size = Size(50);

fn at(milliseconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_800_000_000_000 + milliseconds).unwrap()
}

/// A limit that a large request met at second 0.
fn met() -> Throttle {
    let mut throttle = Throttle::default();
    throttle.met(LARGE, Right::Everybody, at(0), NOTHING, 0.0);
    throttle
}

#[test]
fn case_65_limits_in_a_row_double_the_wait_and_one_request_at_a_time_tries() {
    let mut throttle = Throttle::default();
    let (mut now, mut calls) = (at(0), 0);
    let mut right = Right::Everybody;
    while now < at(200_000) {
        calls += 1;
        throttle.met(SMALL, right, now, NOTHING, 0.0);
        let Allowed::Nothing(until) = throttle.allows(SMALL, now) else {
            panic!("it was met");
        };
        now = until;
        right = throttle.probe(SMALL, now, LEASE).unwrap();
        assert_eq!(throttle.probe(SMALL, now, LEASE), None);
    }
    assert_eq!(calls, 8, "after 0, 1, 3, 7, 15, 31, 63 and 127 seconds");
}

#[test]
fn case_66_much_smaller_requests_continue_until_they_meet_the_limit_too() {
    let mut throttle = met();
    assert_eq!(throttle.allows(LARGE, at(0)), Allowed::Nothing(at(1_000)));
    assert_eq!(
        throttle.allows(Size(2_000), at(0)),
        Allowed::Nothing(at(1_000))
    );
    assert_eq!(throttle.allows(Size(1_999), at(0)), Allowed::Asking);
    assert_eq!(
        throttle.allows(Size::IMAGE, at(0)),
        Allowed::Nothing(at(1_000))
    );
    throttle.met(SMALL, Right::Everybody, at(500), NOTHING, 0.0);
    assert_eq!(throttle.allows(SMALL, at(500)), Allowed::Nothing(at(1_500)));
    assert_eq!(throttle.allows(LARGE, at(500)), Allowed::Nothing(at(1_500)));
    assert_eq!(throttle.met, 1);
}

#[test]
fn several_in_a_row_must_pass_before_those_of_their_size_are_free() {
    let mut throttle = met();
    let now = at(1_000);
    for _ in 0..PROVING {
        assert_eq!(throttle.allows(LARGE, now), Allowed::Probing);
        let right = throttle.probe(LARGE, now, LEASE).unwrap();
        assert_eq!(throttle.allows(LARGE, now), Allowed::Nothing(now + LEASE));
        throttle.passed(LARGE, right, now);
    }
    assert_eq!(throttle.allows(Size(31_999), now), Allowed::Asking);
    assert_eq!(throttle.allows(Size::IMAGE, now), Allowed::Probing);
    for _ in 0..PROVING {
        let right = throttle.probe(Size::IMAGE, now, LEASE).unwrap();
        throttle.passed(Size::IMAGE, right, now);
    }
    assert_eq!(throttle, Throttle::default());
}

#[test]
fn a_limit_between_two_that_pass_begins_the_proof_again_with_the_shortest_wait() {
    let mut throttle = met();
    let right = throttle.probe(LARGE, at(1_000), LEASE).unwrap();
    throttle.passed(LARGE, right, at(1_000));
    let right = throttle.probe(LARGE, at(1_000), LEASE).unwrap();
    throttle.met(LARGE, right, at(1_000), NOTHING, 0.0);
    assert_eq!((throttle.met, throttle.passed), (1, 0));
    assert_eq!(
        throttle.allows(LARGE, at(1_000)),
        Allowed::Nothing(at(2_000))
    );
}

#[test]
fn a_limit_that_asks_for_more_gets_it_and_those_on_their_way_only_lengthen_it() {
    let asked = Duration::from_secs(20);
    let met = |chance| {
        let mut throttle = Throttle::default();
        throttle.met(LARGE, Right::Everybody, at(0), asked, chance);
        throttle
    };
    assert_eq!(met(0.0).until, Some(at(20_000)));
    assert_eq!(met(1.0).until, Some(at(24_000)));
    let mut throttle = met(0.0);
    for (asked, until) in [(5, 20_000), (25, 27_000)] {
        let asked = Duration::from_secs(asked);
        throttle.met(LARGE, Right::Everybody, at(2_000), asked, 0.0);
        assert_eq!((throttle.until, throttle.met), (Some(at(until)), 1));
    }
}

#[test]
fn what_was_on_its_way_or_is_smaller_says_nothing_when_it_passes() {
    let throttle = met();
    let mut same = throttle;
    same.passed(LARGE, Right::Everybody, at(100));
    same.passed(SMALL, Right::Everybody, at(100));
    assert_eq!(same, throttle);
}

#[test]
fn one_that_tried_and_learned_nothing_lets_the_next_one_try() {
    let mut throttle = met();
    let right = throttle.probe(LARGE, at(1_000), LEASE).unwrap();
    throttle.unknown(right);
    assert_eq!(throttle.allows(LARGE, at(1_000)), Allowed::Probing);
}
