//! What is known about an item's text, or about its image, during its analysis. It has
//! the scores, their providers, and the providers that failed.

mod outcome;
#[cfg(test)]
mod tests;

use std::time::Duration;

use domain::{
    decision::{ImageProblem, Unchecked},
    id::MediaId,
    media::Modality,
    score::{Category, Scores},
};
use store::analysis::{Part, Piece, ProviderReport, ToAnalyse};

use crate::provider::{Answer, ProviderError};

/// The word for a provider that a site names and this process does not know.
const UNKNOWN: &str = "unknown";

/// An analysis of one modality in progress.
pub(super) struct ModalityAnalysis<'a> {
    item: &'a ToAnalyse,
    modality: Modality,
    wanted: Vec<Category>,
    /// Whether the request wants all categories of a text, whatever the rules want.
    all_scores: bool,
    /// The names of providers that look only for a little in an image.
    narrow: &'a [&'a str],
    /// Over all providers and runs.
    scores: Scores,
    /// Categories that a provider was asked about and did not score, in this run or before.
    left_out: Vec<Category>,
    /// Whether a provider has looked at it, in this run or before.
    seen: bool,
    /// Whether a provider that is not narrow was one of them.
    is_seen_widely: bool,
    /// Why part of the image could not be shown. None if all of it was shown.
    unseen: Option<ImageProblem>,
    /// What was learned in this run.
    reports: Vec<ProviderReport>,
    /// What was learned in this run about pieces of the text, or about frames of the image.
    pieces: Vec<Piece>,
    /// The providers that failed permanently, in this run or before.
    failures: Vec<Failure>,
    pauses: Vec<Pause>,
}

struct Failure {
    unchecked: Unchecked,
    /// The categories that it could have scored.
    categories: Vec<Category>,
}

struct Pause {
    provider: String,
    wait: Duration,
    /// The categories that it could score.
    categories: Vec<Category>,
}

impl<'a> ModalityAnalysis<'a> {
    /// One analysis of the text and one of the image, if the item has them, with the findings of
    /// earlier runs. `narrow` are the names of providers that look only for a little in an image. With
    /// `all_scores`, all categories of the text are wanted, whatever the rules want.
    pub(super) fn of(item: &'a ToAnalyse, all_scores: bool, narrow: &'a [&'a str]) -> Vec<Self> {
        let modalities = [
            (Modality::Text, item.text.is_some()),
            (Modality::Image, item.has_picture),
        ];
        modalities
            .into_iter()
            .filter(|(_, is_there)| *is_there)
            .map(|(modality, _)| {
                let all_scores = all_scores && modality == Modality::Text;
                Self::new(item, modality, all_scores, narrow)
            })
            .collect()
    }

    fn new(
        item: &'a ToAnalyse,
        modality: Modality,
        all_scores: bool,
        narrow: &'a [&'a str],
    ) -> Self {
        let mut modality_analysis = Self {
            item,
            modality,
            wanted: match item.wanted.as_slice() {
                wanted if !wanted.is_empty() && !all_scores => wanted.to_vec(),
                _ => Category::ALL.to_vec(),
            },
            all_scores,
            narrow,
            scores: Scores::default(),
            left_out: Vec::new(),
            seen: false,
            is_seen_widely: false,
            unseen: None,
            reports: Vec::new(),
            pieces: Vec::new(),
            failures: Vec::new(),
            pauses: Vec::new(),
        };
        for part in modality_analysis.parts() {
            if let Some(scores) = &part.scores {
                modality_analysis.scores.merge_max(scores);
                modality_analysis.was_seen_by(&part.provider);
            }
            modality_analysis.unseen = modality_analysis.unseen.or(part.unseen);
        }
        modality_analysis
    }

    pub(super) fn modality(&self) -> Modality {
        self.modality
    }

    /// What earlier runs found about this modality.
    fn parts(&self) -> impl Iterator<Item = &'a Part> + use<'a> {
        let modality = self.modality;
        let parts = self.item.parts.iter();
        parts.filter(move |part| part.modality == modality)
    }

    /// The wanted categories that have no score.
    pub(super) fn missing(&self) -> Vec<Category> {
        let wanted = self.wanted.iter().copied();
        wanted
            .filter(|category| self.scores.get(*category).is_none())
            .collect()
    }

    /// Whether this provider answered or failed permanently in an earlier run. Notes which of the
    /// two.
    pub(super) fn has_asked(&mut self, provider: &str, categories: &[Category]) -> bool {
        let Some(part) = self.parts().find(|part| part.provider == provider) else {
            return false;
        };
        if let Some(scores) = &part.scores {
            self.left_out.extend(without(scores, categories));
        } else {
            let detail = "it failed for good in an earlier run";
            self.note(provider, detail.to_owned(), categories);
        }
        true
    }

    /// Records a provider's answer about these categories.
    pub(super) fn said(
        &mut self,
        provider: &str,
        asked: &[Category],
        answer: Answer,
        elapsed: Duration,
    ) {
        self.scores.merge_max(&answer.scores);
        self.left_out.extend(without(&answer.scores, asked));
        self.was_seen_by(provider);
        self.reports.push(ProviderReport {
            provider: provider.to_owned(),
            modality: self.modality,
            scores: answer.scores,
            elapsed_ms: millis(elapsed),
            failure: None,
            unseen: None,
            raw: answer.raw,
            cached_from: None,
        });
    }

    fn was_seen_by(&mut self, provider: &str) {
        self.seen = true;
        self.is_seen_widely |= !self.narrow.contains(&provider);
    }

    /// Whether only providers have seen it that look for a little in an image.
    fn is_seen_narrowly(&self) -> bool {
        self.modality == Modality::Image && self.seen && !self.is_seen_widely
    }

    /// The latest answer is about a part of the image. The rest cannot be shown.
    pub(super) fn saw_in_part(&mut self, problem: ImageProblem) {
        self.unseen = Some(problem);
        if let Some(report) = self.reports.last_mut() {
            report.unseen = Some(problem);
        }
    }

    /// Records what a provider answered earlier about the equal text of another item.
    pub(super) fn said_before(
        &mut self,
        provider: &str,
        asked: &[Category],
        answer: Answer,
        elapsed: Duration,
        from: MediaId,
    ) {
        self.said(provider, asked, answer, elapsed);
        if let Some(report) = self.reports.last_mut() {
            report.cached_from = Some(from);
        }
    }

    /// Records answers to some pieces of the text, or to some frames of the image, while others are
    /// missing.
    pub(super) fn said_in_part(&mut self, pieces: Vec<Piece>) {
        self.pieces.extend(pieces);
    }

    pub(super) fn paused(&mut self, provider: &str, categories: &[Category], wait: Duration) {
        self.pauses.push(Pause {
            provider: provider.to_owned(),
            wait,
            categories: categories.to_vec(),
        });
    }

    pub(super) fn failed(
        &mut self,
        provider: &str,
        categories: &[Category],
        error: &ProviderError,
        elapsed: Duration,
    ) {
        self.note(provider, error.to_string(), categories);
        self.report_failure(provider, error.reason(), elapsed);
    }

    /// The site names a provider that does not exist. Nobody knows what it could have scored.
    pub(super) fn unknown(&mut self, provider: &str) {
        let detail = "it is not configured";
        self.note(provider, detail.to_owned(), &Category::ALL);
        // Another worker may know it, so this is not a permanent failure.
        self.report_failure(provider, UNKNOWN, Duration::ZERO);
    }

    /// There is no provider at all.
    pub(super) fn nobody(&mut self) {
        let detail = "no provider is configured";
        self.note("analysis", detail.to_owned(), &Category::ALL);
    }

    /// The image cannot be shown to a provider that could have scored these categories.
    pub(super) fn unseen(&mut self, problem: ImageProblem, categories: &[Category]) {
        self.failures.push(Failure {
            unchecked: Unchecked::ImageNotAnalysed { problem },
            categories: categories.to_vec(),
        });
    }

    /// Records that a provider failed permanently.
    fn note(&mut self, provider: &str, detail: String, categories: &[Category]) {
        let unchecked = self.failure_of(provider, detail);
        self.failures.push(Failure {
            unchecked,
            categories: categories.to_vec(),
        });
    }

    fn failure_of(&self, provider: &str, detail: String) -> Unchecked {
        Unchecked::ProviderFailed {
            provider: provider.to_owned(),
            modality: self.modality,
            detail,
        }
    }

    fn report_failure(&mut self, provider: &str, reason: &str, elapsed: Duration) {
        self.reports.push(ProviderReport {
            provider: provider.to_owned(),
            modality: self.modality,
            scores: Scores::default(),
            elapsed_ms: millis(elapsed),
            failure: Some(reason.to_owned()),
            unseen: None,
            raw: None,
            cached_from: None,
        });
    }
}

/// The categories that have no score.
fn without(scores: &Scores, categories: &[Category]) -> impl Iterator<Item = Category> {
    let categories = categories.iter().copied();
    categories.filter(|category| scores.get(*category).is_none())
}

fn millis(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
