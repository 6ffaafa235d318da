//! The figures of a run, as the report in JSON has them.

use domain::{
    precision_recall::{self, Point},
    proportion::Proportion,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde::Serialize;

use super::{
    Options,
    calibration::{Bin, Calibration},
    collected_scores::{CollectedScores, Subject},
    ranking::Ranking,
};

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(super) rows: u64,
    pub(super) resamples: usize,
    pub(super) seed: u64,
    /// Over all rows: `any`, and each category that a row has a label for.
    pub(super) all: Vec<Figures>,
    /// The same by language. Empty if no row names its language.
    pub(super) by_language: Vec<ByLanguage>,
}

/// The rows of one language.
#[derive(Debug, Serialize)]
pub(super) struct ByLanguage {
    /// None is for rows that name no language.
    pub(super) language: Option<String>,
    pub(super) rows: u64,
    pub(super) figures: Vec<Figures>,
}

/// How good the scores of a category are.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) category: Subject,
    /// Labelled rows with a score. All figures below are about these.
    pub(super) scored: Rows,
    /// Labelled rows that the analyser gave no score of the category. They do not count as zeros.
    pub(super) not_scored: Rows,
    /// The average precision. None without positive rows.
    pub(super) auprc: Option<Average>,
    pub(super) thresholds: Vec<At>,
    /// From 0 to 1. None without rows.
    pub(super) expected_calibration_error: Option<f64>,
    pub(super) calibration: Vec<Calibrated>,
}

/// So many rows, and how many of them are positive.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Rows {
    pub(super) rows: u64,
    pub(super) positive: u64,
}

/// An average precision and its interval of 95 %, from 0 to 1.
#[derive(Debug, Serialize)]
pub(super) struct Average {
    pub(super) value: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// What a threshold finds.
#[derive(Debug, Serialize)]
pub(super) struct At {
    pub(super) threshold: f64,
    pub(super) precision: Share,
    pub(super) recall: Share,
}

/// A share with its Wilson interval of 95 %. None of nothing.
#[derive(Debug, Serialize)]
pub(super) struct Share {
    pub(super) count: u64,
    pub(super) of: u64,
    #[serde(rename = "share")]
    pub(super) part: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// A bin of the calibration.
#[derive(Debug, Serialize)]
pub(super) struct Calibrated {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) rows: u64,
    pub(super) positive: u64,
    pub(super) mean_score: Option<f64>,
    pub(super) share_positive: Option<f64>,
}

impl Measured {
    pub(super) fn new(collected: &CollectedScores, options: &Options) -> Self {
        let figures = |language| {
            Subject::all()
                .filter_map(|subject| Figures::of(collected, subject, language, options))
                .collect()
        };
        Self {
            rows: collected.rows(),
            resamples: options.resamples,
            seed: options.seed,
            all: figures(None),
            by_language: collected
                .languages()
                .map(|(language, number, rows)| ByLanguage {
                    language: language.map(ToString::to_string),
                    rows,
                    figures: figures(Some(number)),
                })
                .collect(),
        }
    }
}

impl Figures {
    /// None without labelled rows.
    fn of(
        collected: &CollectedScores,
        subject: Subject,
        language: Option<u32>,
        options: &Options,
    ) -> Option<Self> {
        let answers = collected.answers(subject, language);
        let mut not_scored = Proportion::default();
        for answer in answers.clone().filter(|answer| answer.score.is_none()) {
            not_scored.add(answer.is_positive);
        }
        let pairs = answers.filter_map(|answer| Some((answer.score?, answer.is_positive)));
        let ranking = Ranking::new(pairs.clone());
        if ranking.items().of + not_scored.of == 0 {
            return None;
        }
        let calibration = Calibration::new(pairs.clone());
        let mut thresholds = options.thresholds.clone();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        Some(Self {
            category: subject,
            scored: ranking.items().into(),
            not_scored: not_scored.into(),
            auprc: Average::of(&ranking, options),
            thresholds: precision_recall::points(&thresholds, pairs)
                .into_iter()
                .map(At::from)
                .collect(),
            expected_calibration_error: calibration.expected_error(),
            calibration: calibration.bins().map(Calibrated::from).into(),
        })
    }
}

impl Average {
    fn of(ranking: &Ranking, options: &Options) -> Option<Self> {
        let value = ranking.average_precision()?;
        // The same seed for each, so that a figure does not depend on which others there are.
        let mut random = StdRng::seed_from_u64(options.seed);
        let interval = ranking.interval(options.resamples, |range| random.random_range(range));
        Some(Self {
            value,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    }
}

impl From<Proportion> for Rows {
    fn from(rows: Proportion) -> Self {
        Self {
            rows: rows.of,
            positive: rows.hits,
        }
    }
}

impl From<Point> for At {
    fn from(point: Point) -> Self {
        Self {
            threshold: point.threshold,
            precision: point.precision.into(),
            recall: point.recall.into(),
        }
    }
}

impl From<Proportion> for Share {
    fn from(proportion: Proportion) -> Self {
        let interval = proportion.wilson();
        Self {
            count: proportion.hits,
            of: proportion.of,
            part: proportion.share(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    }
}

impl From<Bin> for Calibrated {
    fn from(bin: Bin) -> Self {
        Self {
            from: bin.from,
            to: bin.to,
            rows: bin.items.of,
            positive: bin.items.hits,
            mean_score: bin.mean_score,
            share_positive: bin.items.share(),
        }
    }
}
