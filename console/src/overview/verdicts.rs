//! Verdicts over time: a chart, a sentence that says what matters in it, and a table with the same numbers.

use chrono::{DateTime, Timelike as _, Utc};

use super::{
    time_range::TimeRange,
    trend::{Trend, every_verdict},
};
use crate::{
    charts::{Layer, Stacked},
    number::grouped,
};

/// Verdicts over time.
pub(super) struct Verdicts {
    pub(super) chart: Stacked,
    /// Labels below the chart, one for each step; most are empty.
    pub(super) labels: Vec<Label>,
    /// What those hear who do not see the chart.
    pub(super) sentence: String,
    pub(super) rows: Vec<Row>,
}

/// A label of the axis of time.
pub(super) struct Label {
    pub(super) text: String,
    /// Whether it is every second one, for which a narrow window has no room.
    pub(super) is_second: bool,
}

/// The verdicts of a step.
pub(super) struct Row {
    pub(super) start: String,
    pub(super) approved: String,
    pub(super) rejected: String,
    pub(super) to_review: String,
}

impl Verdicts {
    pub(super) fn of(trend: &Trend) -> Self {
        let span = trend.window.span;
        let starts = trend.window.starts();
        let steps: Vec<_> = trend.steps.iter().map(every_verdict).collect();
        let layer = |class, value: fn(&management::statistics::Outcomes) -> i64| {
            let values = steps.iter().map(|step| value(&step.0).unsigned_abs());
            Layer {
                class,
                values: values.collect(),
            }
        };
        let layers = [
            layer("ok", |outcomes| outcomes.approved),
            layer("no", |outcomes| outcomes.rejected),
            layer("warn", |outcomes| outcomes.pending_review),
        ];
        let rows = starts.iter().zip(&steps).map(|(start, step)| Row {
            start: exact(*start, span),
            approved: grouped(step.0.approved),
            rejected: grouped(step.0.rejected),
            to_review: grouped(step.0.pending_review),
        });
        let peak = starts.iter().zip(&steps).max_by_key(|(_, step)| step.sum());
        let peak = peak.map(|(start, step)| (exact(*start, span), step.sum()));
        Self {
            chart: Stacked::new(&layers),
            labels: labels(&starts, span),
            sentence: sentence(trend, peak),
            rows: rows.collect(),
        }
    }
}

fn sentence(trend: &Trend, peak: Option<(String, i64)>) -> String {
    let span = trend.window.span;
    let all = every_verdict(&trend.total);
    let Some((start, most)) = peak.filter(|(_, most)| *most > 0) else {
        return format!("No verdicts in the last {}.", span.name());
    };
    format!(
        "{} in the last {}: {} approved{}, {} rejected, {} to review. Most were {}: {}.",
        match all.sum() {
            1 => "1 verdict".to_owned(),
            sum => format!("{} verdicts", grouped(sum)),
        },
        span.name(),
        grouped(all.0.approved),
        match trend.total.failures.approved {
            0 => String::new(),
            unchecked => format!(" ({} of them without a complete check)", grouped(unchecked)),
        },
        grouped(all.0.rejected),
        grouped(all.0.pending_review),
        match span.step_name() {
            Some(step) => format!("in the {step} from {start}"),
            None => format!("on {start}"),
        },
        grouped(most),
    )
}

/// The beginning of a step.
fn exact(start: DateTime<Utc>, span: TimeRange) -> String {
    let format = match span {
        TimeRange::Day | TimeRange::Week => "%-d %b, %H:%M",
        TimeRange::Month => "%-d %b",
    };
    start.format(format).to_string()
}

/// A few labels: the last steps have none, because a label reaches over the steps after it.
fn labels(starts: &[DateTime<Utc>], span: TimeRange) -> Vec<Label> {
    let free = starts.len().saturating_sub(2);
    let mut told = 0_u32;
    let label = |(place, start): (usize, &DateTime<Utc>)| {
        let (is_told, format) = match span {
            TimeRange::Day => (start.hour() % 4 == 0, "%H:%M"),
            TimeRange::Week => (start.hour() == 0, "%-d %b"),
            TimeRange::Month => (place % 5 == 0, "%-d %b"),
        };
        let text = if is_told && place < free {
            told += 1;
            start.format(format).to_string()
        } else {
            String::new()
        };
        let is_second = !text.is_empty() && told.is_multiple_of(2);
        Label { text, is_second }
    };
    starts.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_time_has_a_few_labels_far_from_its_end() {
        let now = "2026-03-10T12:34:56Z".parse().unwrap();
        for (span, expected) in [
            (
                TimeRange::Day,
                vec!["16:00", "20:00", "00:00", "04:00", "08:00"],
            ),
            (
                TimeRange::Week,
                vec![
                    "4 Mar", "5 Mar", "6 Mar", "7 Mar", "8 Mar", "9 Mar", "10 Mar",
                ],
            ),
            (
                TimeRange::Month,
                vec!["9 Feb", "14 Feb", "19 Feb", "24 Feb", "1 Mar", "6 Mar"],
            ),
        ] {
            let starts = span.window(now).starts();
            let labels = labels(&starts, span);
            assert_eq!(labels.len(), starts.len());
            let seconds = labels.iter().filter(|label| label.is_second).count();
            assert_eq!(seconds, expected.len() / 2, "{span:?}");
            let texts = labels.iter().map(|label| label.text.as_str());
            let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
            assert_eq!(texts, expected, "{span:?}");
        }
    }
}
