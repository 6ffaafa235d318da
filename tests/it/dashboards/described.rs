//! The dashboards as they are in the repository, and what is known to be empty on them.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
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

    /// The queries of Prometheus. Those of Postgres are tested in `crates/store/tests/it/ops.rs`.
    pub(super) fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        self.panels().flat_map(|panel| {
            let title = panel["title"].as_str().unwrap();
            let targets = panel["targets"].as_array().unwrap().iter();
            let expressions = targets.filter_map(|target| target["expr"].as_str());
            expressions.map(move |expression| Target {
                panel: title,
                expression,
            })
        })
    }

    /// The queries of annotations. They have values only at a restart or a change of version.
    pub(super) fn annotations(&self) -> impl Iterator<Item = &str> {
        let annotations = self.document["annotations"]["list"].as_array().unwrap();
        annotations
            .iter()
            .map(|annotation| annotation["expr"].as_str().unwrap())
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
    assert_eq!(dashboards.len(), 7);
    dashboards
}

/// Panels that a busy service which lacks nothing does not answer, as `dashboard: title`, each with
/// the reason.
#[derive(Deserialize)]
pub(super) struct Silent(BTreeMap<String, String>);

impl Silent {
    pub(super) fn read() -> Self {
        serde_json::from_str(include_str!("../../dashboards/silent.json")).unwrap()
    }

    /// Whether nothing may answer. Recorded series (with a colon) need the rules of `alerts/`.
    pub(super) fn allows(&self, dashboard: &Dashboard, target: &Target<'_>) -> bool {
        let panel = format!("{}: {}", dashboard.name, target.panel);
        target.expression.contains("gatehouse:") || self.0.contains_key(&panel)
    }
}

/// Replaces the variables as Grafana does when everything is selected.
pub(super) fn substituted(expression: &str) -> String {
    let expression = expression
        .replace("$__rate_interval", "30s")
        .replace("$job", ".+")
        .replace("$instance", ".+")
        .replace("$queue", ".+");
    assert!(
        !expression.contains('$'),
        "an unknown variable: {expression}"
    );
    expression
}
