//! Mann and Whitney's test: do two sets of times come from the same distribution?

/// The probability of a difference at least this large if the two distributions are the same. By the normal approximation, which is
/// good from 20 values each on, with its correction for ties.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn p_value(one: &[f64], other: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = one.iter().map(|value| (*value, true)).collect();
    all.extend(other.iter().map(|value| (*value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (of_one, of_other, total) = (one.len() as f64, other.len() as f64, all.len() as f64);
    let (mut ranks_of_one, mut ties, mut before) = (0.0, 0.0, 0.0);
    for equal in all.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let count = equal.len() as f64;
        let rank = before + f64::midpoint(count, 1.0);
        ranks_of_one += rank * equal.iter().filter(|(_, is_one)| *is_one).count() as f64;
        ties += count.powi(3) - count;
        before += count;
    }
    let u = ranks_of_one - of_one * (of_one + 1.0) / 2.0;
    let variance = of_one * of_other / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((u - of_one * of_other / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * above(distance)).min(1.0)
}

/// How much of the normal distribution lies above a positive value. Formula 7.1.26 of Abramowitz and Stegun, whose error is at most
/// 1.5e-7.
fn above(value: f64) -> f64 {
    let x = value / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let factors = [
        1.061_405_429,
        -1.453_152_027,
        1.421_413_741,
        -0.284_496_736,
        0.254_829_592,
    ];
    let sum = factors.iter().fold(0.0, |sum, factor| t * (factor + sum));
    0.5 * sum * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 5e-4
    }

    #[test]
    fn the_normal_distribution_is_as_in_tables() {
        for (value, expected) in [(0.0, 0.5), (1.0, 0.1587), (1.96, 0.025), (3.0, 0.00135)] {
            assert!(near(above(value), expected), "{value}: {}", above(value));
        }
    }

    #[test]
    fn p_values_are_those_that_another_program_computed() {
        // With the exact error function.
        let x: Vec<f64> = (1..=20).map(f64::from).collect();
        let y: Vec<f64> = (1..=20).map(|n| f64::from(n) + 6.5).collect();
        assert!(near(p_value(&x, &y), 0.0033), "{}", p_value(&x, &y));
        assert!(near(p_value(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.0809));
        assert!(near(
            p_value(&[1.0, 2.0, 2.0, 3.0], &[2.0, 3.0, 4.0, 4.0]),
            0.1342
        ));
    }

    #[test]
    fn equal_sets_are_alike_and_the_order_of_arguments_is_the_same() {
        let x: Vec<f64> = (1..=50).map(f64::from).collect();
        assert!(p_value(&x, &x) > 0.99);
        let y: Vec<f64> = x.iter().map(|n| n + 5.0).collect();
        assert!(near(p_value(&x, &y), p_value(&y, &x)));
        assert!(near(p_value(&[1.0; 30], &[1.0; 30]), 1.0));
    }
}
