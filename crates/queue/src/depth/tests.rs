//! Which numbers are shown, and for how long.

use ::metrics::with_local_recorder;
use metrics_exporter_prometheus::PrometheusBuilder;

use super::*;

#[test]
fn old_numbers_disappear_the_times_stay_until_others_publish() {
    let recorder = PrometheusBuilder::new().build_recorder();
    with_local_recorder(&recorder, || {
        let shown = |line: &str| {
            let page = recorder.handle().render();
            assert!(page.contains(&format!("\n{line}\n")), "{line}:\n{page}");
        };
        let read = QueueStats {
            queue: "q".to_owned(),
            due: 3,
            oldest_due_seconds: 7.0,
            ..QueueStats::default()
        };
        show(&read, 1_007.0);
        gauge!(QUEUE_STATS_AT).set(1_007.0);
        let mut gauges = Gauges {
            reported: BTreeSet::from(["q".to_owned()]),
            read: Some(Instant::now()),
        };
        let due = r#"gatehouse_queue_jobs{queue="q",state="due"}"#;
        let since = r#"gatehouse_queue_oldest_due_timestamp_seconds{queue="q"}"#;

        gauges.expire(Duration::from_mins(1));
        shown(&format!("{due} 3"));
        shown(&format!("{since} 1000"));

        gauges.expire(Duration::ZERO);
        shown(&format!("{due} NaN"));
        shown(r#"gatehouse_queue_runnable{queue="q"} NaN"#);
        shown(r#"gatehouse_queue_oldest_due_seconds{queue="q"} NaN"#);
        shown(&format!("{since} 1000"));
        shown("gatehouse_queue_stats_timestamp_seconds 1007");

        gauges.forget();
        shown(&format!("{since} NaN"));
        shown("gatehouse_queue_stats_timestamp_seconds NaN");
    });
}
