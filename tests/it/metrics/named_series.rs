//! The series that alerts and dashboards ask for.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A series that somebody asks for: the name of a metric, and the value of some labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
}

/// Everything that the alert rules and the dashboards ask for by name.
pub(super) fn asked() -> BTreeSet<Asked> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts =
        vec![fs::read_to_string(root.join("deploy/alerts/gatehouse.rules.yml")).unwrap()];
    for file in fs::read_dir(root.join("dashboards")).unwrap() {
        let path = file.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            texts.push(fs::read_to_string(path).unwrap().replace("\\\"", "\""));
        }
    }
    texts.iter().flat_map(|text| asked_in(text)).collect()
}

fn asked_in(text: &str) -> Vec<Asked> {
    let mut found = Vec::new();
    for (place, _) in text.match_indices("gatehouse_") {
        let rest = &text[place..];
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        let matchers = rest[end..].strip_prefix('{').unwrap_or_default();
        let matchers = matchers.split('}').next().unwrap_or_default();
        let mut series = vec![BTreeMap::new()];
        for matcher in matchers.split(',') {
            let Some((label, values)) = matcher.trim().split_once('=') else {
                continue;
            };
            // What must not be there is not asked for, and variables have any value. Buckets are
            // those of a histogram.
            let values = values.trim_start_matches('~').trim_matches('"');
            if label.ends_with('!') || values.contains(['$', '*']) || label == "le" {
                continue;
            }
            series = alternatives(values)
                .into_iter()
                .flat_map(|value| {
                    series.iter().cloned().map(move |mut labels| {
                        labels.insert(label.to_owned(), value.clone());
                        labels
                    })
                })
                .collect();
        }
        found.extend(series.into_iter().map(|labels| Asked {
            name: name.clone(),
            labels,
        }));
    }
    found
}

/// The values that `a|b` and `/x/(a|b)` allow.
fn alternatives(values: &str) -> Vec<String> {
    let (before, inner) = values.split_once('(').unwrap_or(("", values));
    let inner = inner.trim_end_matches(')');
    inner
        .split('|')
        .map(|one| format!("{before}{one}"))
        .collect()
}

#[test]
fn selectors_are_read() {
    let text = r#"sum(rate(gatehouse_a_total{job=~"$job", b=~"x|y",c="z"}[5m])) > gatehouse_d{route=~"/v1/(p|q)", e!="f"}"#;
    let told: Vec<String> = asked_in(text)
        .into_iter()
        .map(|asked| format!("{} {:?}", asked.name, asked.labels))
        .collect();
    assert_eq!(
        told,
        [
            r#"gatehouse_a_total {"b": "x", "c": "z"}"#,
            r#"gatehouse_a_total {"b": "y", "c": "z"}"#,
            r#"gatehouse_d {"route": "/v1/p"}"#,
            r#"gatehouse_d {"route": "/v1/q"}"#,
        ]
    );
}
