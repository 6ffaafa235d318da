//! What is kept of the rows: scores and labels, by category.

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use serde::{Serialize, Serializer};

use super::rows::{Language, Row};

/// What a score is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The highest score of the labelled categories, and whether any of them is true.
    Any,
    /// One category.
    Category(Category),
}

impl Subject {
    /// All of them, in the order of reports.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Any).chain(Category::ALL.map(Self::Category))
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Category(category) => category.as_str(),
        }
    }

    const fn place(self) -> usize {
        match self {
            Self::Any => 0,
            Self::Category(category) => category as usize + 1,
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A labelled row's answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// None if the analyser gave no score.
    pub(super) score: Option<f64>,
    pub(super) is_positive: bool,
    /// An index of the collected languages.
    language: u32,
}

/// All answers.
#[derive(Debug, Default)]
pub(super) struct CollectedScores {
    answers: [Vec<Answer>; Category::ALL.len() + 1],
    /// The number of each language, and its rows. None is for rows that name no language.
    languages: BTreeMap<Option<Language>, (u32, u64)>,
}

impl CollectedScores {
    /// Adds a row with its scores.
    pub(super) fn add(&mut self, row: &Row, scores: &Scores) {
        let next = u32::try_from(self.languages.len()).unwrap_or(u32::MAX);
        let (language, rows) = self
            .languages
            .entry(row.language.clone())
            .or_insert((next, 0));
        *rows += 1;
        let language = *language;
        let highest = Category::ALL
            .into_iter()
            .filter(|category| row.labels.get(*category).is_some())
            .filter_map(|category| scores.get(category))
            .reduce(f64::max);
        for subject in Subject::all() {
            let (label, score) = match subject {
                Subject::Any => (row.labels.any(), highest),
                Subject::Category(category) => (row.labels.get(category), scores.get(category)),
            };
            if let Some(is_positive) = label {
                self.answers[subject.place()].push(Answer {
                    score,
                    is_positive,
                    language,
                });
            }
        }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        self.languages.values().map(|(_, rows)| rows).sum()
    }

    /// The languages in order with their number and rows, rows without a language first. Nothing if no row names one.
    pub(super) fn languages(&self) -> impl Iterator<Item = (Option<&Language>, u32, u64)> {
        let is_given = self.languages.keys().any(Option::is_some);
        let languages = self.languages.iter().filter(move |_| is_given);
        languages.map(|(language, (number, rows))| (language.as_ref(), *number, *rows))
    }

    /// The answers about a subject, of one language or of all.
    pub(super) fn answers(
        &self,
        subject: Subject,
        language: Option<u32>,
    ) -> impl Iterator<Item = &Answer> + Clone {
        let answers = self.answers[subject.place()].iter();
        answers.filter(move |answer| language.is_none_or(|number| answer.language == number))
    }
}
