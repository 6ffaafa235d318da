//! The defaults are valid, and invalid settings are refused by name.

use super::*;

const QUEUE: QueueName = QueueName::new("tests");

fn refusal(change: impl FnOnce(&mut Config)) -> String {
    let mut config = Config::default();
    change(&mut config);
    config.check().unwrap_err().to_string()
}

#[test]
fn the_defaults_are_sound() {
    assert_eq!(Config::default().check(), Ok(()));
    assert_eq!(BackendSettings::new(QUEUE).check(), Ok(()));
}

#[test]
fn what_cannot_be_meant_is_refused_by_name() {
    assert!(refusal(|c| c.lease = Duration::ZERO).starts_with("lease is 0"));
    assert!(refusal(|c| c.poll = Duration::ZERO).starts_with("poll is 0"));
    assert!(refusal(|c| c.dead_retention = Duration::ZERO).starts_with("dead_retention"));
    assert!(refusal(|c| c.heartbeat = c.lease / 2).contains("a third"));
    assert!(refusal(|c| c.finish_batch = 0).contains("it may be 1 to 10000"));
    assert!(refusal(|c| c.claim_connections = 0).contains("it may be 1 or more"));
    assert!(refusal(|c| c.finishers = 0).contains("it may be 1 to 16"));
}

#[test]
fn so_is_what_no_worker_can_work_with() {
    let settings = BackendSettings::new(QUEUE);
    let retry = Retry::default();
    for (settings, expected) in [
        (settings.prefetch(0), "prefetch of the queue tests is 0"),
        (settings.lane_cap(0), "lane_cap of the queue tests is 0"),
        (settings.group_cap(0), "group_cap of the queue tests is 0"),
        (settings.slots(0), "slots of the queue tests is 0"),
        (
            settings.retry(Retry {
                factor: f64::NAN,
                ..retry
            }),
            "retry of the queue tests: factor",
        ),
        (
            settings.retry(Retry {
                jitter: -0.1,
                ..retry
            }),
            "retry of the queue tests: jitter",
        ),
        (
            settings.retry(Retry {
                max: Duration::ZERO,
                ..retry
            }),
            "retry of the queue tests: max",
        ),
    ] {
        let refusal = settings.check().unwrap_err().to_string();
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}
