//! A page of metrics in Prometheus's text format.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::http;

/// The labels of a series.
pub(super) type Labels = BTreeMap<String, String>;

pub(super) struct Page(String);

impl Page {
    pub(super) async fn read(url: &str) -> Self {
        let page = http().get(url).send().await.unwrap();
        Self(page.text().await.unwrap())
    }

    /// Whether a metric has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        !self.series(name).is_empty()
    }

    /// Whether a series has these labels, whatever others it has.
    pub(super) fn answers(&self, name: &str, labels: &Labels) -> bool {
        let has_all = |series: Labels| {
            labels
                .iter()
                .all(|(label, value)| series.get(label) == Some(value))
        };
        self.samples()
            .any(|(sample, series)| sample == name && has_all(series))
    }

    /// The series of a metric that is not a histogram.
    pub(super) fn series(&self, name: &str) -> BTreeSet<Labels> {
        self.samples()
            .filter(|(sample, _)| *sample == name)
            .map(|(_, labels)| labels)
            .collect()
    }

    /// The values of a label in the series that have these labels, sorted.
    pub(super) fn values(&self, name: &str, label: &str, of: &[(&str, &str)]) -> Vec<String> {
        let series = self.series(name).into_iter().filter(|series| {
            of.iter()
                .all(|(label, value)| series.get(*label).is_some_and(|own| own == value))
        });
        series
            .filter_map(|series| series.get(label).cloned())
            .collect()
    }

    /// The metrics of a type.
    pub(super) fn of_type(&self, kind: &str) -> BTreeSet<String> {
        let types = self
            .0
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "));
        types
            .filter_map(|line| line.strip_suffix(kind)?.strip_suffix(' '))
            .map(str::to_owned)
            .collect()
    }

    /// The metrics that have a value, histograms by their own names.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let histograms = self.of_type("histogram");
        let own = |sample: &str| {
            let stem = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|part| sample.strip_suffix(part));
            stem.filter(|stem| histograms.contains(*stem))
                .unwrap_or(sample)
                .to_owned()
        };
        self.samples().map(|(sample, _)| own(sample)).collect()
    }

    fn samples(&self) -> impl Iterator<Item = (&str, Labels)> {
        let lines = self.0.lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let value: f64 = value.parse().unwrap();
            assert!(value.is_finite(), "{line}");
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            let labels = labels.strip_suffix('}').unwrap();
            let labels = labels.split_terminator("\",").filter_map(|label| {
                let (name, value) = label.split_once("=\"")?;
                let value = value.strip_suffix('"').unwrap_or(value);
                Some((name.to_owned(), value.to_owned()))
            });
            (name, labels.collect())
        })
    }
}
