//! An interface that is told to stop behind a load balancer: first it is not ready, and still
//! answers every request. Then it closes its listener.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;
use sqlx::PgPool;
use tokio::time::sleep;

use crate::support::{Api, SOON, eventually, gatehouse, http, site_key};

/// So long that a busy machine answers some requests meanwhile.
const DRAIN: Duration = Duration::from_secs(15);

fn process(pool: &PgPool, drain: Duration) -> Command {
    let mut command = gatehouse(pool);
    command.env("GATEHOUSE_DRAIN_SECONDS", drain.as_secs().to_string());
    command
}

#[sqlx::test(migrations = false)]
async fn a_stopping_interface_is_not_ready_first_and_refuses_nobody_before_it_closes(pool: PgPool) {
    let key = site_key(&pool);
    let mut api = Api::launch(process(&pool, DRAIN), &[]).await;
    let address = api.address;
    // A connection of its own for each request, as a new client has.
    let submit = async || {
        let body = json!({ "api_key": key, "body": "a fine day" });
        let url = format!("http://{address}/functions/v1/submit-media");
        let answer = http().post(url).json(&body).send().await.ok()?;
        Some(answer.status().as_u16())
    };
    let readiness = async || {
        let answer = http().get(format!("http://{address}/readyz")).send().await;
        Some(answer.ok()?.status().as_u16())
    };
    assert_eq!((submit().await, readiness().await), (Some(200), Some(200)));

    api.terminate();
    let stopped = Instant::now();
    eventually("it is not ready", SOON, async || {
        (readiness().await == Some(503)).then_some(())
    })
    .await;
    let mut answered = 0;
    let closed = loop {
        let ready = readiness().await;
        let Some(status) = submit().await else {
            break stopped.elapsed();
        };
        let after = stopped.elapsed();
        // The listener may close between the two.
        assert!(ready == Some(503), "{ready:?} after {after:?}");
        assert_eq!(status, 200, "after {after:?}");
        assert!(after < SOON, "it never closes");
        answered += 1;
        sleep(Duration::from_millis(20)).await;
    };
    assert!(answered > 2, "{answered}");
    assert!(
        closed + Duration::from_secs(1) > DRAIN,
        "refused after {closed:?}"
    );
    assert!(api.ended().await.success());
}

#[sqlx::test(migrations = false)]
async fn a_second_signal_ends_a_draining_interface_at_once(pool: PgPool) {
    site_key(&pool);
    let mut api = Api::launch(process(&pool, SOON * 2), &[]).await;
    let ready = format!("http://{}/readyz", api.address);
    api.terminate();
    eventually("it drains", SOON, async || {
        let answer = http().get(&ready).send().await.ok()?;
        (answer.status().as_u16() == 503).then_some(())
    })
    .await;
    api.terminate();
    // This waits for less than it would drain.
    assert_eq!(api.ended().await.code(), Some(130));
}

/// The number that stands after this text in a file of the repository.
fn number(file: &str, after: &str) -> u64 {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let found = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(after));
    let found = found.unwrap_or_else(|| panic!("{file} has no {after}"));
    let digits: String = found
        .trim_start_matches([' ', '"'])
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap()
}

#[test]
fn the_files_for_deployments_drain_and_leave_time_for_it() {
    // What docs/operations.md says: requests, results, spans, and the queue.
    const REST: u64 = 45;
    let unit = "deploy/systemd/gatehouse-api.service";
    let compose = "deploy/compose.yaml";
    let (settings, api) = (
        "deploy/kubernetes/base/settings.yaml",
        "deploy/kubernetes/base/api.yaml",
    );
    for (drain, stop, before) in [
        (
            number(unit, "Environment=GATEHOUSE_DRAIN_SECONDS="),
            number(unit, "TimeoutStopSec="),
            0,
        ),
        (
            number(compose, "GATEHOUSE_DRAIN_SECONDS:"),
            number(compose, "stop_grace_period:"),
            0,
        ),
        (
            number(settings, "GATEHOUSE_DRAIN_SECONDS:"),
            number(api, "terminationGracePeriodSeconds:"),
            // `preStop`.
            number(api, "seconds:"),
        ),
    ] {
        assert_eq!(drain, 5);
        assert!(before + drain + REST <= stop, "{before} {drain} {stop}");
    }
}
