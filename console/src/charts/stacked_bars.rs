//! Bars of several layers, one bar for each step of time.

use super::axis::{Axis, short};

/// The size of the drawing, in units of its own.
const HEIGHT: u32 = 600;
const STEP: usize = 20;
const GAP: usize = 2;

/// The values of a layer, and its class, which gives its colour.
pub(crate) struct Layer {
    pub(crate) class: &'static str,
    pub(crate) values: Vec<u64>,
}

/// A stacked bar chart.
pub(crate) struct Stacked {
    pub(crate) width: usize,
    pub(crate) height: u32,
    /// The width of a step.
    pub(crate) step: usize,
    pub(crate) bars: Vec<Bar>,
    /// The lines of the axis, from its highest step down.
    pub(crate) lines: Vec<Line>,
}

/// A part of a bar.
pub(crate) struct Bar {
    pub(crate) class: &'static str,
    pub(crate) x: usize,
    pub(crate) y: u32,
    pub(crate) width: usize,
    pub(crate) height: u32,
}

/// A line across the chart.
pub(crate) struct Line {
    pub(crate) y: u32,
    pub(crate) label: String,
}

impl Stacked {
    /// Draws layers, the lowest first. A layer with fewer values than others has zeros at its end.
    pub(crate) fn new(layers: &[Layer]) -> Self {
        let counts = layers.iter().map(|layer| layer.values.len());
        let count = counts.max().unwrap_or(0);
        let value =
            |layer: &Layer, place: usize| u128::from(layer.values.get(place).copied().unwrap_or(0));
        let total = |place| layers.iter().map(|layer| value(layer, place)).sum();
        let axis = Axis::up_to((0..count).map(total).max().unwrap_or(0));
        let mut bars = Vec::new();
        for place in 0..count {
            let mut below = 0;
            for layer in layers {
                let above = below + value(layer, place);
                let (low, high) = (axis.place(below, HEIGHT), axis.place(above, HEIGHT));
                below = above;
                if high > low {
                    bars.push(Bar {
                        class: layer.class,
                        x: place * STEP + GAP,
                        y: HEIGHT - high,
                        width: STEP - 2 * GAP,
                        height: high - low,
                    });
                }
            }
        }
        Self {
            width: (count * STEP).max(STEP),
            height: HEIGHT,
            step: STEP,
            bars,
            lines: axis
                .steps()
                .map(|step| Line {
                    y: HEIGHT - axis.place(step, HEIGHT),
                    label: short(step),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(class: &'static str, values: &[u64]) -> Layer {
        Layer {
            class,
            values: values.to_vec(),
        }
    }

    fn bars(chart: &Stacked) -> Vec<(&'static str, usize, u32, u32)> {
        let bars = chart.bars.iter();
        bars.map(|bar| (bar.class, bar.x, bar.y, bar.height))
            .collect()
    }

    #[test]
    fn layers_stand_on_each_other_without_a_gap() {
        let chart = Stacked::new(&[layer("ok", &[30, 0]), layer("no", &[10, 20])]);
        assert_eq!(chart.width, 40);
        let expected = [("ok", 2, 150, 450), ("no", 2, 0, 150), ("no", 22, 300, 300)];
        assert_eq!(bars(&chart), expected);
        let lines: Vec<_> = chart.lines.iter().map(|line| line.y).collect();
        assert_eq!(lines, [0, 150, 300, 450, 600]);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        for layers in [
            vec![],
            vec![layer("ok", &[])],
            vec![layer("ok", &[0, 0, 0])],
        ] {
            let chart = Stacked::new(&layers);
            assert!(chart.bars.is_empty());
            assert!(chart.width > 0);
            let labels: Vec<_> = chart.lines.iter().map(|line| &line.label).collect();
            assert_eq!(labels, ["1", "0"]);
        }
    }

    #[test]
    fn one_huge_value_stays_inside_and_hides_no_step() {
        let huge = [u64::MAX, 1, u64::MAX];
        let chart = Stacked::new(&[layer("ok", &huge), layer("no", &huge), layer("warn", &[0])]);
        assert_eq!(chart.width, 60, "every step keeps its place");
        for bar in &chart.bars {
            assert!(bar.y + bar.height <= HEIGHT, "{} {}", bar.y, bar.height);
        }
        let places: Vec<_> = chart.bars.iter().map(|bar| bar.x).collect();
        assert_eq!(places, [2, 2, 42, 42]);
    }
}
