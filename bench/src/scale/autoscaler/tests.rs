//! The autoscaler decides as the HPA's documentation says.

use super::*;

const POLICY: Policy = Policy {
    least: 1,
    most: 6,
    window: Duration::from_secs(45),
    up: (4, Duration::from_secs(15)),
    down: (1, Duration::from_secs(10)),
};

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn the_metric_that_wants_the_most_workers_counts() {
    assert_eq!(Autoscaler::new(POLICY).decide(at(0), 2, &[0.2, 1.4]), 3);
}

#[test]
fn a_ratio_within_the_tolerance_changes_nothing() {
    assert_eq!(Autoscaler::new(POLICY).decide(at(0), 4, &[1.09]), 4);
    assert_eq!(Autoscaler::new(POLICY).decide(at(0), 4, &[1.11]), 5);
}

#[test]
fn at_most_four_are_started_in_a_period_and_never_more_than_the_maximum() {
    let mut scaler = Autoscaler::new(POLICY);
    assert_eq!(scaler.decide(at(0), 1, &[100.0]), 5);
    assert_eq!(scaler.decide(at(5), 5, &[100.0]), 5);
    assert_eq!(scaler.decide(at(16), 5, &[100.0]), 6);
}

#[test]
fn workers_are_stopped_one_by_one_after_the_window() {
    let mut scaler = Autoscaler::new(POLICY);
    assert_eq!(scaler.decide(at(0), 4, &[1.0]), 4);
    assert_eq!(
        scaler.decide(at(40), 4, &[0.0]),
        4,
        "the window has not passed"
    );
    assert_eq!(scaler.decide(at(50), 4, &[0.0]), 3);
    assert_eq!(scaler.decide(at(55), 3, &[0.0]), 3, "one in ten seconds");
    assert_eq!(scaler.decide(at(61), 3, &[0.0]), 2);
}

#[test]
fn an_old_high_recommendation_starts_no_workers() {
    let mut scaler = Autoscaler::new(POLICY);
    assert_eq!(scaler.decide(at(0), 1, &[100.0]), 5);
    assert_eq!(scaler.decide(at(20), 3, &[1.0]), 3);
}

#[test]
fn a_turn_is_a_change_of_direction() {
    let change = |seconds, from, to| Change {
        at: at(seconds),
        from,
        to,
    };
    let changes = [
        change(0, 1, 3),
        change(50, 3, 4),
        change(100, 4, 3),
        change(110, 3, 4),
    ];
    assert_eq!(turns(&changes), 2);
    assert_eq!(turns(&changes[..3]), 1);
    assert_eq!(turns(&changes[..2]), 0);
}
