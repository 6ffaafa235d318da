//! Precision and recall by threshold, as two lines.

use domain::precision_recall::Point;

/// The size of the drawing, in units of its own.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 200.0;

/// Two lines over the thresholds from 0 to 1. Where nothing reaches a threshold, there is no precision, and its line ends.
pub(crate) struct CurveChart {
    /// The points of polylines.
    pub(crate) precision: String,
    pub(crate) recall: String,
    /// Where the rule's thresholds are, from left to right.
    pub(crate) marks: Vec<i64>,
}

impl CurveChart {
    /// Draws points, and marks the thresholds in force.
    pub(crate) fn new(points: &[Point], in_force: &[f64]) -> Self {
        Self {
            precision: line(points, |point| point.precision.share()),
            recall: line(points, |point| point.recall.share()),
            marks: in_force.iter().map(|at| place(*at, WIDTH)).collect(),
        }
    }
}

fn line(points: &[Point], share: impl Fn(&Point) -> Option<f64>) -> String {
    let places = points.iter().filter_map(|point| {
        let (x, y) = (
            place(point.threshold, WIDTH),
            place(1.0 - share(point)?, HEIGHT),
        );
        Some(format!("{x},{y}"))
    });
    places.collect::<Vec<_>>().join(" ")
}

#[expect(clippy::cast_possible_truncation, reason = "from 0 to the length")]
fn place(share: f64, length: f64) -> i64 {
    (share.clamp(0.0, 1.0) * length).round() as i64
}

#[cfg(test)]
mod tests {
    use domain::precision_recall::points;

    use super::*;

    #[test]
    fn lines_go_from_threshold_to_threshold_and_end_where_nothing_is_found() {
        let pairs = [(0.3, false), (0.6, true), (0.6, true), (0.2, true)];
        let chart = CurveChart::new(&points(&[0.1, 0.5, 0.9], pairs), &[0.37, 0.9]);
        assert_eq!(chart.precision, "100,50 500,0");
        assert_eq!(chart.recall, "100,0 500,67 900,200");
        assert_eq!(chart.marks, [370, 900]);
        let nothing = CurveChart::new(&points(&[0.1], []), &[]);
        assert_eq!(
            (nothing.precision.as_str(), nothing.recall.as_str()),
            ("", "")
        );
    }
}
