//! The threshold of one service that selects as many texts of a sample as a threshold of another, and how far both agree at it. Scores
//! of two services order texts differently, so the same number can select the same share, but never the same texts for certain.

/// The scores of one text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) theirs: f64,
    pub(super) ours: f64,
}

/// A threshold of ours, and what it selects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matched {
    /// A text is selected from this score on.
    pub(super) threshold: f64,
    pub(super) agreement: Agreement,
}

/// How many texts each service selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreement {
    pub(super) both: usize,
    pub(super) only_theirs: usize,
    pub(super) only_ours: usize,
    pub(super) neither: usize,
}

impl Agreement {
    /// At these two thresholds.
    fn at(pairs: &[Pair], theirs: f64, ours: f64) -> Self {
        let mut agreement = Self::default();
        for pair in pairs {
            let count = match (pair.theirs >= theirs, pair.ours >= ours) {
                (true, true) => &mut agreement.both,
                (true, false) => &mut agreement.only_theirs,
                (false, true) => &mut agreement.only_ours,
                (false, false) => &mut agreement.neither,
            };
            *count += 1;
        }
        agreement
    }

    /// How many texts there are.
    pub(super) fn texts(&self) -> usize {
        self.both + self.only_theirs + self.only_ours + self.neither
    }

    /// How many texts they select.
    pub(super) fn theirs(&self) -> usize {
        self.both + self.only_theirs
    }

    /// How many texts we select.
    pub(super) fn ours(&self) -> usize {
        self.both + self.only_ours
    }
}

/// The threshold of ours that selects as many of these texts as `theirs` does. Equal scores of ours can make the exact number impossible.
/// Then it is the nearest possible number, the lower one of two, but at least one text. `None` if `theirs` selects none: then the texts
/// say nothing about it.
///
/// The threshold is a number with few digits between the scores that it separates. If it selects all texts, it is the highest one with
/// few digits that does.
pub(super) fn matched(pairs: &[Pair], theirs: f64) -> Option<Matched> {
    let wanted = pairs.iter().filter(|pair| pair.theirs >= theirs).count();
    if wanted == 0 {
        return None;
    }
    let mut scores: Vec<f64> = pairs.iter().map(|pair| pair.ours).collect();
    scores.sort_unstable_by(|one, other| other.total_cmp(one));
    let mut best: Option<(usize, f64)> = None;
    let mut selected = 0;
    for equal in scores.chunk_by(|one, other| one.total_cmp(other).is_eq()) {
        selected += equal.len();
        if best.is_none_or(|(count, _)| selected.abs_diff(wanted) < count.abs_diff(wanted)) {
            best = Some((selected, equal[0]));
        }
    }
    let (count, lowest) = best?;
    let threshold = short(scores.get(count).copied(), lowest);
    Some(Matched {
        threshold,
        agreement: Agreement::at(pairs, theirs, threshold),
    })
}

/// A number with few digits that is greater than `above` and at most `up_to`: near the middle of both, or just below `up_to` if nothing
/// is below.
fn short(above: Option<f64>, up_to: f64) -> f64 {
    for digits in 2..=15 {
        let scale = 10_f64.powi(digits);
        let number = match above {
            Some(above) => (f64::midpoint(above, up_to) * scale).round() / scale,
            None => (up_to * scale).floor() / scale,
        };
        let is_right = above.map_or(number > 0.0, |above| number > above) && number <= up_to;
        if is_right {
            return number;
        }
    }
    up_to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(scores: &[(f64, f64)]) -> Vec<Pair> {
        let pair = |&(theirs, ours)| Pair { theirs, ours };
        scores.iter().map(pair).collect()
    }

    fn agreement(both: usize, only_theirs: usize, only_ours: usize, neither: usize) -> Agreement {
        Agreement {
            both,
            only_theirs,
            only_ours,
            neither,
        }
    }

    #[test]
    fn the_threshold_selects_as_many_texts() {
        let pairs = pairs(&[
            (0.95, 0.41),
            (0.90, 0.32),
            (0.81, 0.05),
            (0.79, 0.36),
            (0.20, 0.02),
            (0.10, 0.01),
        ]);
        let Matched {
            threshold,
            agreement: counts,
        } = matched(&pairs, 0.8).unwrap();
        // 0.32 is the third score of ours, 0.05 is the fourth.
        assert!((threshold - 0.19).abs() < 1e-9, "{threshold}");
        assert_eq!(counts, agreement(2, 1, 1, 2));
        assert_eq!((counts.theirs(), counts.ours(), counts.texts()), (3, 3, 6));
    }

    #[test]
    fn a_text_with_the_very_score_is_selected() {
        let pairs = pairs(&[(0.5, 0.9), (0.49, 0.1)]);
        let found = matched(&pairs, 0.5).unwrap();
        assert_eq!(found.agreement, agreement(1, 0, 0, 1));
    }

    #[test]
    fn nothing_is_said_about_a_threshold_that_no_text_reaches() {
        assert_eq!(matched(&[], 0.5), None);
        assert_eq!(matched(&pairs(&[(0.1, 0.9), (0.2, 0.8)]), 0.5), None);
    }

    #[test]
    fn if_they_select_all_texts_so_do_we() {
        let found = matched(&pairs(&[(0.9, 0.0075), (0.8, 0.4)]), 0.5).unwrap();
        assert!((found.threshold - 0.007).abs() < 1e-9, "{found:?}");
        assert_eq!(found.agreement, agreement(2, 0, 0, 0));
        let found = matched(&pairs(&[(0.9, 0.0), (0.8, 0.0)]), 0.5).unwrap();
        assert!(found.threshold.abs() < 1e-9, "{found:?}");
        assert_eq!(found.agreement, agreement(2, 0, 0, 0));
    }

    #[test]
    fn equal_scores_are_selected_together() {
        // One or three are possible, and two are wanted.
        let tied = pairs(&[(0.9, 0.7), (0.8, 0.6), (0.1, 0.6), (0.1, 0.2)]);
        let found = matched(&tied, 0.5).unwrap();
        assert_eq!(found.agreement, agreement(1, 1, 0, 2));
        // Three are nearer to the wanted one than none, which would select nothing.
        let tied = pairs(&[(0.9, 0.6), (0.1, 0.6), (0.1, 0.6), (0.1, 0.2)]);
        let found = matched(&tied, 0.5).unwrap();
        assert_eq!(found.agreement, agreement(1, 0, 2, 1));
    }

    #[test]
    fn a_threshold_has_as_few_digits_as_it_can() {
        let shown = |above, up_to| short(above, up_to).to_string();
        assert_eq!(shown(Some(0.31), 0.4), "0.36");
        assert_eq!(shown(Some(0.3101), 0.3104), "0.3103");
        assert_eq!(shown(Some(0.299), 0.3), "0.3");
        assert_eq!(shown(None, 0.756), "0.75");
        // There is nothing between the two.
        let next = 0.3_f64.next_up();
        assert_eq!(short(Some(0.3), next).to_bits(), next.to_bits());
    }

    /// All pairs of scores from a few values, for up to four texts.
    #[test]
    fn no_other_threshold_comes_nearer() {
        const SCORES: [f64; 4] = [0.0, 0.3, 0.300_000_1, 1.0];
        for texts in 1..=4_u32 {
            for number in 0..16_usize.pow(texts) {
                let pairs: Vec<Pair> = (0..texts)
                    .map(|text| number / 16_usize.pow(text) % 16)
                    .map(|both| Pair {
                        theirs: SCORES[both / 4],
                        ours: SCORES[both % 4],
                    })
                    .collect();
                let wanted = pairs.iter().filter(|pair| pair.theirs >= 0.3).count();
                let Some(Matched {
                    threshold,
                    agreement,
                }) = matched(&pairs, 0.3)
                else {
                    assert_eq!(wanted, 0, "{pairs:?}");
                    continue;
                };
                assert!((0.0..=1.0).contains(&threshold), "{pairs:?}");
                assert_eq!(agreement.theirs(), wanted, "{pairs:?}");
                assert_eq!(agreement.texts(), pairs.len(), "{pairs:?}");
                let selected = |from| pairs.iter().filter(|pair| pair.ours >= from).count();
                let ours = agreement.ours();
                assert_eq!(ours, selected(threshold), "{pairs:?}");
                assert!(ours > 0, "{pairs:?}");
                for other in pairs.iter().map(|pair| selected(pair.ours)) {
                    let (this, other) = (
                        (ours.abs_diff(wanted), ours),
                        (other.abs_diff(wanted), other),
                    );
                    assert!(this <= other, "{pairs:?}: {this:?} and {other:?}");
                }
            }
        }
    }
}
