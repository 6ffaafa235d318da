//! Dashboards that cannot go stale: a real Prometheus scrapes a busy service and answers every
//! query of every panel. `scripts/dashboards --check` checks how they are written.

mod described;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::json;

use crate::{
    prometheus::Prometheus,
    support::{DataDir, Receiver, Up, http, picture},
};
use described::{Dashboard, Silent, dashboards, substituted};

/// The time that a busy service gets to export everything. Its slowest gauges are read every 15 s.
const PATIENCE: Duration = Duration::from_mins(3);

/// One text for each path through the rules of the demo site.
const TEXTS: [&str; 4] = [
    "The train to the coast leaves at nine, bring your swimming things.",
    "Nobody should ever read this blockedword here.",
    "Please have a look at review-2024 when you find the time.",
    "I will kill you, you worthless piece of filth.",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_panel_is_answered_by_a_busy_service() {
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let up = Up::start(&data, &["--webhook-url", &receiver.url()]).await;
    let prometheus = Prometheus::scraping(&[&up.demo().metrics_url]).await;
    let dashboards = dashboards();

    let everything = async {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let missing = unanswered(&prometheus, &dashboards).await;
            if missing.is_empty() {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "not answered:\n{}",
                missing.join("\n")
            );
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        () = everything => {}
        () = keep_busy(&up) => {}
    }

    let page = http().get(&up.demo().metrics_url).send().await.unwrap();
    let page = page.text().await.unwrap();
    let named = |kind: &str| -> BTreeSet<&str> {
        let lines = page.lines().filter_map(|line| line.strip_prefix(kind));
        lines.filter_map(|rest| rest.split(' ').next()).collect()
    };
    assert_eq!(named("# TYPE "), named("# HELP "), "all are described");

    let unseen = metrics_on_no_dashboard(&prometheus, &dashboards).await;
    assert!(
        unseen.is_empty(),
        "exported metrics that no dashboard shows: {unseen:?}"
    );
}

async fn keep_busy(up: &Up) {
    for round in 0_usize.. {
        let text = TEXTS[round % TEXTS.len()];
        let media = up
            .submit(json!({ "body": format!("{text} ({round})") }))
            .await;
        up.status(&media).await;
        if round % 50 == 0 {
            let image = BASE64_STANDARD.encode(picture("baseline.jpg"));
            up.submit(json!({ "content_base64": image })).await;
        }
        if round % 10 == 0 {
            let demo = up.demo();
            let waiting =
                json!({ "api_key": demo.site_key, "body": format!("{text} (waits {round})") });
            let request = http().post(format!("{}/submit-media", demo.base_url));
            let answer = request
                .header("prefer", "wait=2")
                .json(&waiting)
                .send()
                .await;
            assert!(answer.unwrap().status().is_success());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The queries that are wrong, or have no finite value and should have, each with the actual answer.
async fn unanswered(prometheus: &Prometheus, dashboards: &[Dashboard]) -> Vec<String> {
    let silent = Silent::read();
    let mut missing = Vec::new();
    for dashboard in dashboards {
        for (selector, label) in dashboard.variables() {
            let values = prometheus.label_values(label, &substituted(selector)).await;
            if !values.as_ref().is_ok_and(|values| !values.is_empty()) {
                missing.push(format!("{}, variable {label}: {values:?}", dashboard.name));
            }
        }
        for expression in dashboard.annotations() {
            if let Err(error) = prometheus.query(&substituted(expression)).await {
                missing.push(format!("{}, {expression}: {error}", dashboard.name));
            }
        }
        for target in dashboard.targets() {
            let expression = substituted(target.expression);
            let values = prometheus.query(&expression).await;
            let answered = values.as_ref().is_ok_and(|values| {
                values.iter().any(|value| value.is_finite()) || silent.allows(dashboard, &target)
            });
            if !answered {
                missing.push(format!(
                    "{}, {}: {expression}: {values:?}",
                    dashboard.name, target.panel
                ));
            }
        }
    }
    missing
}

async fn metrics_on_no_dashboard(
    prometheus: &Prometheus,
    dashboards: &[Dashboard],
) -> BTreeSet<String> {
    let shown: Vec<&str> = dashboards
        .iter()
        .flat_map(|dashboard| dashboard.targets().map(|target| target.expression))
        .collect();
    let exported = prometheus
        .label_values("__name__", r#"{__name__=~"gatehouse_.+"}"#)
        .await
        .unwrap();
    let metric = |series: &str| {
        let parts = ["_bucket", "_sum", "_count"];
        let stem = parts.iter().find_map(|part| series.strip_suffix(part));
        stem.unwrap_or(series).to_owned()
    };
    exported
        .iter()
        .map(|series| metric(series))
        .filter(|metric| {
            !shown
                .iter()
                .any(|expression| expression.contains(metric.as_str()))
        })
        .collect()
}
