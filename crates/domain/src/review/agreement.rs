//! How far two people agree about the same items, beyond what chance would do.

use crate::{
    media::Ruling,
    proportion::{Interval, Proportion, Z95, real},
};

/// What two people said about the same items, independently of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// By what the first person said, and then by what the second one said: approve, reject.
    counts: [[u64; 2]; 2],
}

/// Cohen's kappa: 1 if people always agree, 0 if they agree as often as chance would.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kappa {
    /// From -1 to 1.
    pub value: f64,
    /// The interval of 95 %, with the asymptotic standard error.
    pub interval: Interval,
}

impl Pairs {
    /// Adds an item.
    pub const fn add(&mut self, first: Ruling, second: Ruling) {
        self.counts[place(first)][place(second)] += 1;
    }

    /// How many items there are, and about how many of them both said the same.
    pub const fn agreed(&self) -> Proportion {
        let [
            [both_approve, approve_reject],
            [reject_approve, both_reject],
        ] = self.counts;
        Proportion {
            hits: both_approve + both_reject,
            of: both_approve + both_reject + approve_reject + reject_approve,
        }
    }

    /// Cohen's kappa. None without items, and if everybody always said the same: then chance would agree, too.
    ///
    /// The standard error is that of J. L. Fleiss, J. Cohen and B. S. Everitt, Large sample standard errors of kappa and
    /// weighted kappa (1969), formula 13.
    pub fn kappa(&self) -> Option<Kappa> {
        let total = real(self.agreed().of);
        let observed = self.agreed().share()?;
        let share = |first: usize, second: usize| real(self.counts[first][second]) / total;
        let firsts = [0, 1].map(|row| share(row, 0) + share(row, 1));
        let seconds = [0, 1].map(|column| share(0, column) + share(1, column));
        let by_chance = firsts[0] * seconds[0] + firsts[1] * seconds[1];
        let room = 1.0 - by_chance;
        if room <= f64::EPSILON {
            return None;
        }
        let value = (observed - by_chance) / room;
        let mut agreeing = 0.0;
        let mut differing = 0.0;
        for first in 0..2 {
            for second in 0..2 {
                if first == second {
                    let weight = 1.0 - (firsts[first] + seconds[first]) * (1.0 - value);
                    agreeing += share(first, second) * weight * weight;
                } else {
                    let weight = seconds[first] + firsts[second];
                    differing += share(first, second) * weight * weight;
                }
            }
        }
        let differing = (1.0 - value) * (1.0 - value) * differing;
        let centre = value - by_chance * (1.0 - value);
        let variance = (agreeing + differing - centre * centre).max(0.0) / (room * room * total);
        let half = Z95 * variance.sqrt();
        Some(Kappa {
            value,
            interval: Interval {
                low: (value - half).max(-1.0),
                high: (value + half).min(1.0),
            },
        })
    }
}

const fn place(ruling: Ruling) -> usize {
    match ruling {
        Ruling::Approve => 0,
        Ruling::Reject => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(
        both_approve: u64,
        approve_reject: u64,
        reject_approve: u64,
        both_reject: u64,
    ) -> Pairs {
        Pairs {
            counts: [
                [both_approve, approve_reject],
                [reject_approve, both_reject],
            ],
        }
    }

    /// Kappa of four shares.
    fn of_shares(shares: [f64; 4]) -> f64 {
        let [a, b, c, d] = shares.map(|share| share / shares.iter().sum::<f64>());
        let by_chance = (a + b) * (a + c) + (c + d) * (b + d);
        (a + d - by_chance) / (1.0 - by_chance)
    }

    /// The standard error by the delta method, with slopes that are measured instead of derived.
    fn standard_error(counts: [u64; 4]) -> f64 {
        let total: u64 = counts.iter().sum();
        let shares = counts.map(|count| real(count) / real(total));
        let step = 1e-6;
        let slopes: Vec<f64> = (0..4)
            .map(|cell| {
                let (mut up, mut down) = (shares, shares);
                up[cell] += step;
                down[cell] -= step;
                (of_shares(up) - of_shares(down)) / (2.0 * step)
            })
            .collect();
        let mean: f64 = (0..4).map(|cell| shares[cell] * slopes[cell]).sum();
        let square: f64 = (0..4)
            .map(|cell| shares[cell] * slopes[cell] * slopes[cell])
            .sum();
        ((square - mean * mean) / real(total)).sqrt()
    }

    #[test]
    fn kappa_is_agreement_beyond_chance() {
        for (a, b, c, d, expected) in [
            (20, 5, 10, 15, 0.4),
            (45, 15, 25, 15, 0.130_434_782_608_695_65),
            (25, 35, 5, 35, 0.259_259_259_259_259_24),
            (10, 0, 0, 10, 1.0),
            (0, 10, 10, 0, -1.0),
            (25, 25, 25, 25, 0.0),
        ] {
            let kappa = pairs(a, b, c, d).kappa().unwrap();
            assert!((kappa.value - expected).abs() < 1e-12, "{kappa:?}");
            let half = Z95 * standard_error([a, b, c, d]);
            let (low, high) = ((expected - half).max(-1.0), (expected + half).min(1.0));
            assert!((kappa.interval.low - low).abs() < 1e-6, "{kappa:?} {low}");
            assert!(
                (kappa.interval.high - high).abs() < 1e-6,
                "{kappa:?} {high}"
            );
        }
    }

    #[test]
    fn there_is_no_kappa_where_chance_would_agree_as_well() {
        for (a, d) in [(0, 0), (7, 0), (0, 7)] {
            assert_eq!(pairs(a, 0, 0, d).kappa(), None);
        }
        let mut said = Pairs::default();
        said.add(Ruling::Approve, Ruling::Reject);
        assert_eq!(said, pairs(0, 1, 0, 0));
        assert_eq!(said.agreed(), Proportion { hits: 0, of: 1 });
    }
}
