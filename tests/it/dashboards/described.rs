//! The dashboards as they are in the repository.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;

pub(super) struct Dashboard {
    pub(super) name: String,
    document: Value,
}

/// One query of one panel.
pub(super) struct Target<'a> {
    pub(super) panel: &'a str,
    pub(super) expression: &'a str,
}

impl Dashboard {
    fn panels(&self) -> impl Iterator<Item = &Value> {
        let panels = self.document["panels"].as_array().unwrap().iter();
        panels.filter(|panel| panel["type"] != "row")
    }

    pub(super) fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        self.panels().flat_map(|panel| {
            let title = panel["title"].as_str().unwrap();
            let targets = panel["targets"].as_array().unwrap().iter();
            targets.map(move |target| Target {
                panel: title,
                expression: target["expr"].as_str().unwrap(),
            })
        })
    }

    /// The variables whose values come from Prometheus: `label_values(selector, label)`.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
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

pub(super) fn dashboards() -> Vec<Dashboard> {
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

/// Replaces the variables as Grafana does when everything is selected.
pub(super) fn substituted(expression: &str) -> String {
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
