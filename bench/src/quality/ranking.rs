//! How well a score ranks positives before negatives, over all thresholds: the average precision, and how certain it is.

#[cfg(test)]
mod tests;

use std::ops::Range;

use domain::proportion::{Interval, Proportion, real};

/// Scores in falling order. Equal scores are one group, because no threshold can separate them.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    /// Each score, how often it occurs, and how often it is positive.
    groups: Vec<(f64, Proportion)>,
    items: Proportion,
}

impl Ranking {
    /// Sorts pairs of a score and whether the answer is positive. A score that is no number counts as the lowest.
    pub(super) fn new(pairs: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let mut pairs: Vec<(f64, bool)> = pairs.into_iter().collect();
        for (score, _) in &mut pairs {
            // Adding zero makes -0 and 0 equal for `total_cmp`.
            *score = if score.is_nan() {
                f64::NEG_INFINITY
            } else {
                *score + 0.0
            };
        }
        pairs.sort_unstable_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut items = Proportion::default();
        let mut groups: Vec<(f64, Proportion)> = Vec::new();
        for (score, is_positive) in pairs {
            items.add(is_positive);
            match groups.last_mut() {
                Some((last, group)) if last.total_cmp(&score).is_eq() => group.add(is_positive),
                _ => {
                    let mut group = Proportion::default();
                    group.add(is_positive);
                    groups.push((score, group));
                }
            }
        }
        Self { groups, items }
    }

    /// How many items there are, and how many of them are positive.
    pub(super) const fn items(&self) -> Proportion {
        self.items
    }

    /// The average precision: the precision at each score, weighted by the recall that this score adds, from 0 to 1. It is
    /// the area under the curve of precision over recall, without interpolation, as `average_precision_score` of
    /// scikit-learn calculates it. A score that says nothing has the share of positives. None without positives.
    pub(super) fn average_precision(&self) -> Option<f64> {
        average_precision(self.groups.iter().map(|(_, group)| *group), self.items.hits)
    }

    /// The interval that contains the middle 95 % of the average precisions of `resamples` resamples: the percentile
    /// bootstrap (B. Efron, 1979). Each resample draws as many items as there are, with replacement. `pick` draws an index
    /// from a range, each with equal probability. Resamples without positives do not count. None if none counts.
    pub(super) fn interval(
        &self,
        resamples: usize,
        mut pick: impl FnMut(Range<usize>) -> usize,
    ) -> Option<Interval> {
        let items: Vec<(usize, bool)> = self.by_item().collect();
        if items.is_empty() {
            return None;
        }
        let mut drawn = vec![Proportion::default(); self.groups.len()];
        let mut values: Vec<f64> = (0..resamples)
            .filter_map(|_| {
                drawn.fill(Proportion::default());
                let mut positives = 0;
                for _ in 0..items.len() {
                    let (group, is_positive) = items[pick(0..items.len())];
                    drawn[group].add(is_positive);
                    positives += u64::from(is_positive);
                }
                average_precision(drawn.iter().copied(), positives)
            })
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        // As many are left out at each end: at most 2.5 %.
        let left_out = values.len() * 25 / 1_000;
        Some(Interval {
            low: *values.get(left_out)?,
            high: *values.get(values.len() - 1 - left_out)?,
        })
    }

    /// The group of each item, and whether the item is positive.
    fn by_item(&self) -> impl Iterator<Item = (usize, bool)> {
        let groups = self.groups.iter().enumerate();
        groups.flat_map(|(place, (_, group))| {
            (0..group.of).map(move |number| (place, number < group.hits))
        })
    }
}

fn average_precision(groups: impl Iterator<Item = Proportion>, positives: u64) -> Option<f64> {
    if positives == 0 {
        return None;
    }
    let (mut sum, mut above) = (0.0, Proportion::default());
    for group in groups {
        above.hits += group.hits;
        above.of += group.of;
        sum += real(group.hits) * above.share().unwrap_or(0.0);
    }
    Some(sum / real(positives))
}
