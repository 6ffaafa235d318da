//! When a breaker opens, who may probe, and when it closes.

use super::*;

const SETTINGS: BreakerSettings = BreakerSettings {
    failures: 3,
    first: Duration::from_secs(10),
    longest: Duration::from_secs(35),
};
const LEASE: Duration = Duration::from_secs(4);

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn fail(breaker: &mut Breaker, right: Right, seconds: i64) {
    breaker.failed(right, at(seconds), 0.5, &SETTINGS);
}

/// A breaker that opened at second 0.
fn open() -> Breaker {
    let mut breaker = Breaker::default();
    for _ in 0..3 {
        fail(&mut breaker, Right::Everybody, 0);
    }
    breaker
}

#[test]
fn failures_in_a_row_open_it_and_a_success_among_them_does_not() {
    let mut breaker = Breaker::default();
    for _ in 0..5 {
        fail(&mut breaker, Right::Everybody, 0);
        fail(&mut breaker, Right::Everybody, 0);
        assert_eq!(breaker.allows(at(0)), Allowed::Asking);
        breaker.succeeded(Right::Everybody);
    }
    assert_eq!(open().allows(at(0)), Allowed::Nothing(at(10)));
    assert_eq!(open().allows(at(9)), Allowed::Nothing(at(10)));
    assert_eq!(open().allows(at(10)), Allowed::Probing);
}

#[test]
fn one_refusal_of_all_calls_opens_it() {
    let mut breaker = Breaker::default();
    breaker.denied(Right::Everybody, at(0), 0.5, &SETTINGS);
    assert_eq!(breaker.allows(at(0)), Allowed::Nothing(at(10)));
    let probe = breaker.probe(at(10), LEASE).unwrap();
    breaker.denied(probe, at(10), 0.5, &SETTINGS);
    assert_eq!(breaker.allows(at(10)), Allowed::Nothing(at(30)));
}

#[test]
fn one_alone_probes_until_its_lease_is_over() {
    let mut breaker = open();
    assert_eq!(breaker.probe(at(9), LEASE), None);
    assert_eq!(breaker.probe(at(11), LEASE), Some(Right::Probe(at(15))));
    assert_eq!(breaker.probe(at(12), LEASE), None);
    assert_eq!(breaker.allows(at(12)), Allowed::Nothing(at(15)));
    assert_eq!(breaker.probe(at(15), LEASE), Some(Right::Probe(at(19))));
}

#[test]
fn a_probe_that_succeeds_closes_it_and_one_that_fails_doubles_the_wait_up_to_the_longest() {
    let mut breaker = open();
    let mut now = 10;
    for wait in [20, 35, 35] {
        let probe = breaker.probe(at(now), LEASE).unwrap();
        fail(&mut breaker, probe, now);
        assert_eq!(breaker.allows(at(now)), Allowed::Nothing(at(now + wait)));
        now += wait;
    }
    let probe = breaker.probe(at(now), LEASE).unwrap();
    breaker.succeeded(probe);
    assert_eq!(breaker, Breaker::default());
}

#[test]
fn calls_that_began_before_it_opened_change_nothing() {
    let mut breaker = open();
    breaker.succeeded(Right::Everybody);
    fail(&mut breaker, Right::Everybody, 5);
    assert_eq!(breaker, open());
    let late = breaker.probe(at(10), LEASE).unwrap();
    let current = breaker.probe(at(14), LEASE).unwrap();
    let probing = breaker;
    breaker.succeeded(late);
    fail(&mut breaker, late, 15);
    assert_eq!(breaker, probing);
    breaker.succeeded(current);
    assert_eq!(breaker.allows(at(15)), Allowed::Asking);
}

#[test]
fn chance_spreads_the_wait_and_no_number_is_too_large() {
    let mut breaker = open();
    breaker.openings = u32::MAX;
    let probe = breaker.probe(at(10), LEASE).unwrap();
    breaker.failed(probe, at(10), 0.0, &SETTINGS);
    assert_eq!(breaker.allows(at(10)), Allowed::Nothing(at(38)));
    let probe = breaker.probe(at(38), LEASE).unwrap();
    breaker.failed(probe, at(38), 1.0, &SETTINGS);
    assert_eq!(breaker.allows(at(38)), Allowed::Nothing(at(80)));
}
