//! When a delivery is tried again, what is kept of an answer, and what a status means.

use super::*;

const HOUR: Duration = Duration::from_hours(1);

fn delays(chance: f64) -> Vec<Duration> {
    (1..=MAX_ATTEMPTS)
        .map_while(|attempt| next_delay(attempt, chance, None))
        .collect()
}

#[test]
fn case_38_nothing_is_kept_of_a_success_and_little_of_a_failure() {
    let body = vec![b'a'; READ_ANSWER_BYTES];
    assert!(kept_answer(Outcome::Delivered, &body).is_none());
    for outcome in [Outcome::Gone, Outcome::Failed] {
        let kept = kept_answer(outcome, &body).unwrap();
        assert_eq!(kept, body[..KEPT_ANSWER_BYTES]);
        assert_eq!(kept_answer(outcome, b"short").unwrap(), b"short");
        assert_eq!(kept_answer(outcome, b"").unwrap(), b"");
    }
}

#[test]
fn waits_grow_fourfold_up_to_ten_hours() {
    let seconds: Vec<u64> = delays(0.5).iter().map(Duration::as_secs).collect();
    assert_eq!(
        seconds,
        [
            5, 20, 80, 320, 1280, 5120, 20480, 36000, 36000, 36000, 36000
        ],
        "twelve attempts have eleven waits between them"
    );
    assert_eq!(seconds.iter().sum::<u64>(), 171_305);
}

#[test]
fn chance_spreads_a_wait_by_a_fifth_the_longest_too() {
    assert_eq!(next_delay(1, 0.0, None), Some(Duration::from_secs(4)));
    assert_eq!(next_delay(1, 1.0, None), Some(Duration::from_secs(6)));
    assert_eq!(next_delay(11, 0.0, None), Some(8 * HOUR));
    assert_eq!(next_delay(11, 1.0, None), Some(12 * HOUR));
}

#[test]
fn nothing_follows_the_twelfth_attempt() {
    for attempt in [12, 13, u16::MAX] {
        assert_eq!(next_delay(attempt, 0.5, Some(HOUR)), None);
    }
}

#[test]
fn retry_after_only_lengthens_and_is_capped() {
    let second = Duration::from_secs(1);
    assert_eq!(next_delay(1, 0.5, Some(second)), Some(5 * second));
    assert_eq!(next_delay(1, 0.5, Some(60 * second)), Some(60 * second));
    assert_eq!(next_delay(1, 0.5, Some(720 * HOUR)), Some(10 * HOUR));
    assert_eq!(next_delay(1, 0.5, Some(Duration::MAX)), Some(10 * HOUR));
}

#[test]
fn retry_after_is_read_in_every_form() {
    let now = DateTime::parse_from_rfc3339("2026-11-21T01:00:00Z")
        .unwrap()
        .to_utc();
    let seconds = |n| Some(Duration::from_secs(n));
    for (status, value, expected) in [
        (429, "120", seconds(120)),
        (503, " 120 ", seconds(120)),
        (503, "0", seconds(0)),
        (429, "99999999999999999999999", seconds(u64::MAX)),
        (429, "Sat, 21 Nov 2026 01:02:00 GMT", seconds(120)),
        (503, "Saturday, 21-Nov-26 01:02:00 GMT", seconds(120)),
        (503, "Sat Nov 21 01:02:00 2026", seconds(120)),
        (503, "Sat, 21 Nov 2026 00:00:00 GMT", None),
        (429, "", None),
        (429, "soon", None),
        (429, "-5", None),
        (429, "1.5", None),
        (429, "2026-11-21T01:02:00Z", None),
        (500, "120", None),
        (200, "120", None),
    ] {
        assert_eq!(
            retry_after(status, value, now),
            expected,
            "{status} {value}"
        );
    }
}

#[test]
fn statuses_are_classified() {
    for status in [200, 201, 202, 204, 299] {
        assert_eq!(Outcome::of_status(status), Outcome::Delivered);
    }
    for status in [
        100, 199, 300, 301, 302, 307, 308, 400, 404, 409, 411, 429, 500, 503,
    ] {
        assert_eq!(Outcome::of_status(status), Outcome::Failed);
    }
    assert_eq!(Outcome::of_status(410), Outcome::Gone);
}

const DAY: i64 = 24 * 3600;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

#[test]
fn five_days_of_failures_are_its_death_and_one_success_among_them_is_not() {
    let mut health = Health::default();
    for day in 0..5 {
        health.failed(Right::Everybody, at(day * DAY), 0.5);
        assert!(!health.is_dead(at(day * DAY)), "day {day}");
    }
    assert!(!health.is_dead(at(5 * DAY - 1)));
    assert!(health.is_dead(at(5 * DAY)));

    health.succeeded(Right::Everybody);
    assert!(!health.is_dead(at(5 * DAY)));
    health.failed(Right::Everybody, at(5 * DAY), 0.5);
    assert!(!health.is_dead(at(9 * DAY)));
}

#[test]
fn a_success_that_began_before_the_breaker_opened_ends_the_failing_and_leaves_the_breaker_to_its_probe()
 {
    let mut health = Health::default();
    for _ in 0..BREAKER.failures {
        health.failed(Right::Everybody, at(0), 0.5);
    }
    assert_eq!(health.breaker.open_until, Some(at(5)));
    health.succeeded(Right::Everybody);
    assert_eq!(health.failing_since, None);
    assert!(!health.is_well());
    let probe = health
        .breaker
        .probe(at(5), Duration::from_secs(20))
        .unwrap();
    health.succeeded(probe);
    assert!(health.is_well());
}
