//! A small line without axes, beside a figure.

/// The size of the line.
const WIDTH: usize = 96;
const HEIGHT: u128 = 20;
const MARGIN: u128 = 2;

/// The points of a polyline in 96 by 24, from the oldest value to the newest one. One value is a flat line; no value is no
/// line.
pub(crate) fn sparkline(values: &[u64]) -> String {
    let flat;
    let values = match values {
        [one] => {
            flat = [*one; 2];
            flat.as_slice()
        }
        values => values,
    };
    let top = u128::from(values.iter().copied().max().unwrap_or(0).max(1));
    let last = values.len().saturating_sub(1).max(1);
    let points = values.iter().enumerate().map(|(place, value)| {
        let y = MARGIN + HEIGHT - u128::from(*value) * HEIGHT / top;
        format!("{},{y}", place * WIDTH / last)
    });
    points.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_from_edge_to_edge_between_its_margins() {
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[7]), "0,2 96,2");
        assert_eq!(sparkline(&[0, 0, 0]), "0,22 48,22 96,22");
        assert_eq!(sparkline(&[0, 5, 10]), "0,22 48,12 96,2");
        assert_eq!(sparkline(&[1, u64::MAX]), "0,22 96,2");
    }
}
