//! Dashboards that cannot go stale: a real Prometheus scrapes a busy service and answers every query of every panel.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::prometheus::Prometheus;
use crate::support::{DataDir, Receiver, Up, http, picture};

/// How long a busy service may take to show everything; its slowest gauges are read every 15 s.
const PATIENCE: Duration = Duration::from_mins(1);

/// One text for each way through the rules of the demo site.
const TEXTS: [&str; 4] = [
    "The train to the coast leaves at nine, bring your swimming things.",
    "Nobody should ever read this blockedword here.",
    "Please have a look at review-2024 when you find the time.",
    "I will kill you, you worthless piece of filth.",
];

struct Dashboard {
    name: String,
    document: Value,
}

/// One query of one panel.
struct Target<'a> {
    panel: &'a str,
    expression: &'a str,
}

impl Dashboard {
    fn panels(&self) -> impl Iterator<Item = &Value> {
        let panels = self.document["panels"].as_array().unwrap().iter();
        panels.filter(|panel| panel["type"] != "row")
    }

    fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        self.panels().flat_map(|panel| {
            let title = panel["title"].as_str().unwrap();
            let targets = panel["targets"].as_array().unwrap().iter();
            targets.map(move |target| Target {
                panel: title,
                expression: target["expr"].as_str().unwrap(),
            })
        })
    }

    /// The variables that are filled from Prometheus: `label_values(selector, label)`.
    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.document["templating"]["list"]
            .as_array()
            .unwrap()
            .iter();
        variables
            .filter(|variable| variable["type"] == "query")
            .map(|variable| {
                let query = variable["query"]["query"].as_str().unwrap();
                let arguments = query
                    .strip_prefix("label_values(")
                    .and_then(|rest| rest.strip_suffix(')'));
                arguments
                    .and_then(|arguments| arguments.rsplit_once(", "))
                    .unwrap()
            })
    }
}

fn dashboards() -> Vec<Dashboard> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards");
    let files = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let dashboards: Vec<_> = files
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .map(|path| Dashboard {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            document: serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(),
        })
        .collect();
    assert!(!dashboards.is_empty());
    dashboards
}

/// What Grafana does before it asks, with everything selected.
fn substituted(expression: &str) -> String {
    let expression = expression
        .replace("$__rate_interval", "30s")
        .replace("$job", ".*")
        .replace("$instance", ".*");
    assert!(
        !expression.contains('$'),
        "an unknown variable: {expression}"
    );
    expression
}

#[test]
fn every_panel_says_what_it_shows() {
    for dashboard in dashboards() {
        let mut ids = BTreeSet::new();
        for panel in dashboard.panels() {
            let title = panel["title"].as_str().unwrap();
            let said = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
            assert!(
                said(&panel["title"]) && said(&panel["description"]),
                "{title}"
            );
            assert!(
                said(&panel["fieldConfig"]["defaults"]["unit"]),
                "{title} has no unit"
            );
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
            assert!(
                ids.insert(panel["id"].as_u64()),
                "{title} has another panel's id"
            );
        }
        for Target { panel, expression } in dashboard.targets() {
            assert!(
                expression.contains(r#"job=~"$job", instance=~"$instance""#),
                "{panel} cannot be narrowed to a job or instance: {expression}"
            );
            assert!(
                !expression.contains("rate(") || expression.contains("[$__rate_interval]"),
                "{panel} has a rate over a fixed time: {expression}"
            );
        }
    }
}

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
        "exported, and on no dashboard: {unseen:?}"
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
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The queries without a finite value, each with what came instead.
async fn unanswered(prometheus: &Prometheus, dashboards: &[Dashboard]) -> Vec<String> {
    let mut missing = Vec::new();
    for dashboard in dashboards {
        for (selector, label) in dashboard.variables() {
            let values = prometheus.label_values(label, &substituted(selector)).await;
            if !values.as_ref().is_ok_and(|values| !values.is_empty()) {
                missing.push(format!("{}, variable {label}: {values:?}", dashboard.name));
            }
        }
        for Target { panel, expression } in dashboard.targets() {
            let expression = substituted(expression);
            let values = prometheus.query(&expression).await;
            let answered = values
                .as_ref()
                .is_ok_and(|values| values.iter().any(|value| value.is_finite()));
            if !answered {
                missing.push(format!(
                    "{}, {panel}: {expression}: {values:?}",
                    dashboard.name
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
