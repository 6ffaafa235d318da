//! Which measurements count as harm.

use super::*;
use crate::{
    latency::Latencies,
    neighbours::{cpu_usage::CpuUsage, hostile::Tally, victim::Felt, watch::Peak},
};

fn minute(p99_ms: u64, worker_mib: f64) -> Minute {
    let latency = Latencies::of_micros(&[p99_ms * 1_000]).percentiles();
    let peak = |resident_mib| Peak {
        resident_mib,
        ..Peak::default()
    };
    Minute {
        felt: Felt {
            submit: latency,
            verdict: latency,
            edit: latency,
            submissions_failed: BTreeMap::new(),
            edits_failed: BTreeMap::new(),
            untold: 0,
            own_lateness: latency,
        },
        api: peak(100.0),
        worker: peak(worker_mib),
        busy: CpuUsage::default(),
        grown_bytes: 1_000,
        hostile: None,
    }
}

fn failures(minutes: Vec<Minute>) -> Vec<String> {
    let idle = [minute(10, 100.0)];
    let bounds = Bounds::beside(&idle, 512);
    Against::new(Attack::Rules, minutes, &idle, &bounds).failures
}

#[test]
fn an_attack_may_double_a_latency_or_add_fifty_milliseconds() {
    assert!((allowed(10.0) - 60.0).abs() < 1e-9);
    assert!((allowed(200.0) - 400.0).abs() < 1e-9);
}

#[test]
fn latencies_are_medians_and_memory_is_the_most() {
    let slow_once = vec![minute(10, 100.0), minute(500, 100.0), minute(10, 100.0)];
    assert!(failures(slow_once).is_empty());
    let slow_twice = vec![minute(10, 100.0), minute(500, 100.0), minute(500, 100.0)];
    assert_eq!(failures(slow_twice).len(), 2);
    let large_once = vec![minute(10, 100.0), minute(10, 513.0), minute(10, 100.0)];
    assert_eq!(failures(large_once), ["worker 513 MiB, allowed 512"]);
}

#[test]
fn whatever_is_refused_or_lost_is_a_failure() {
    let mut minute = minute(10, 100.0);
    minute
        .felt
        .edits_failed
        .insert("503 overloaded".to_owned(), 3);
    minute.felt.untold = 2;
    minute.worker.stopped = 1;
    assert_eq!(
        failures(vec![minute]),
        [
            "worker killed 1 times for its memory",
            "3 × edit: 503 overloaded",
            "2 × verdict: did not arrive in time",
        ]
    );
}

#[test]
fn what_is_kept_is_what_an_idle_minute_does_not_keep() {
    let mut attacked = minute(10, 100.0);
    attacked.grown_bytes = 5_000;
    attacked.hostile = Some(Tally {
        accepted: 8,
        ..Tally::default()
    });
    let each = bytes_per_submission(&[attacked], &[minute(10, 100.0)]);
    assert_eq!(each, Some(500.0));
    assert_eq!(bytes_per_submission(&[minute(10, 100.0)], &[]), None);
}
