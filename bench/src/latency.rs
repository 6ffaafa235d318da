//! Durations gathered in HDR histograms, and medians over rounds.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Latencies from a microsecond to a minute, to three digits.
#[derive(Clone, Debug)]
pub(crate) struct Latencies(Histogram<u64>);

const LONGEST_US: u64 = 60_000_000;

/// Percentiles in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Percentiles {
    /// How many were measured.
    pub(crate) count: u64,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

impl Latencies {
    /// None yet.
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_US, 3);
        Self(histogram.expect("one to a minute of microseconds are valid bounds"))
    }

    /// The latencies in a list of microseconds.
    pub(crate) fn of_micros(micros: &[u64]) -> Self {
        let mut latencies = Self::new();
        for &micros in micros {
            latencies.record(Duration::from_micros(micros));
        }
        latencies
    }

    /// Adds a latency. More than a minute counts as a minute.
    pub(crate) fn record(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(LONGEST_US);
        self.0.saturating_record(micros.clamp(1, LONGEST_US));
    }

    /// Adds all latencies of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// Their percentiles.
    pub(crate) fn percentiles(&self) -> Percentiles {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a minute in microseconds fits 53 bits"
        )]
        let ms = |micros: u64| micros as f64 / 1_000.0;
        let at = |quantile| ms(self.0.value_at_quantile(quantile));
        Percentiles {
            count: self.0.len(),
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            max_ms: ms(self.0.max()),
        }
    }
}

impl std::fmt::Display for Percentiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            count,
            p50_ms,
            p95_ms,
            p99_ms,
            max_ms,
        } = self;
        write!(
            f,
            "p50 {p50_ms:.2} ms, p95 {p95_ms:.2} ms, p99 {p99_ms:.2} ms, max {max_ms:.1} ms, n {count}"
        )
    }
}

/// Medians of the percentiles of several rounds.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "the unit belongs to the names in the report"
)]
pub(crate) struct Medians {
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) p99_ms: f64,
}

impl Medians {
    /// Of these rounds.
    pub(crate) fn of(rounds: &[Percentiles]) -> Self {
        let of = |percentile: fn(&Percentiles) -> f64| median(rounds.iter().map(percentile));
        Self {
            p50_ms: of(|round| round.p50_ms),
            p95_ms: of(|round| round.p95_ms),
            p99_ms: of(|round| round.p99_ms),
        }
    }
}

impl std::fmt::Display for Medians {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            p50_ms,
            p95_ms,
            p99_ms,
        } = self;
        write!(
            f,
            "p50 {p50_ms:.2} ms, p95 {p95_ms:.2} ms, p99 {p99_ms:.2} ms"
        )
    }
}

/// The middle value; the mean of the two middle ones of an even number; 0 of none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    }

    #[test]
    fn medians_of_rounds_are_taken_for_each_percentile() {
        let rounds = [(1, 30), (3, 10), (2, 20)].map(|(typical, worst)| {
            let micros = [[typical * 1_000; 99].as_slice(), &[worst * 1_000; 9]].concat();
            Latencies::of_micros(&micros).percentiles()
        });
        let Medians { p50_ms, p99_ms, .. } = Medians::of(&rounds);
        assert!((p50_ms - 2.0).abs() < 0.01, "{p50_ms}");
        assert!((p99_ms - 20.0).abs() < 0.02, "{p99_ms}");
    }

    #[test]
    fn percentiles_are_of_all_that_was_recorded() {
        let mut latencies = Latencies::new();
        (1..=100).for_each(|ms| latencies.record(Duration::from_millis(ms)));
        latencies.record(Duration::from_hours(1));
        let percentiles = latencies.percentiles();
        let same: Vec<u64> = (1..=100).map(|ms| ms * 1_000).chain([u64::MAX]).collect();
        let same = Latencies::of_micros(&same).percentiles();
        assert_eq!(same.to_string(), percentiles.to_string());
        assert_eq!(percentiles.count, 101);
        assert!((percentiles.p50_ms - 51.0).abs() < 0.1, "{percentiles}");
        assert!(
            (percentiles.max_ms - 60_000.0).abs() < 100.0,
            "{percentiles}"
        );
    }
}
