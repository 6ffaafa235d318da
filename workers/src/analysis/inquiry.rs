//! What is known of an item's text, or of its image, in the course of its analysis: what was scored, by whom, and who could
//! not.

use std::time::Duration;

use domain::{
    decision::{Gap, ImageProblem, Unchecked},
    id::MediaId,
    media::Modality,
    score::{Category, Scores},
};
use store::{
    analysis::{Analysed, Part, Piece, ProviderReport, ToAnalyse},
    progress::Stage,
};

use crate::provider::{Answer, ProviderError};

/// The word for a provider that a site names and this process does not know.
const UNKNOWN: &str = "unknown";

/// An analysis of one modality in progress.
pub(super) struct Inquiry<'a> {
    item: &'a ToAnalyse,
    modality: Modality,
    wanted: Vec<Category>,
    /// Over all providers and runs.
    scores: Scores,
    /// What providers that list it were asked for and did not score, in this run or before.
    left_out: Vec<Category>,
    /// Whether a provider has looked at it, in this run or before, whatever it saw.
    seen: bool,
    /// Why not all of the image could be shown, to whom it was shown; none if all could.
    unseen: Option<ImageProblem>,
    /// What was learned in this run.
    reports: Vec<ProviderReport>,
    /// What was learned in this run of pieces of the text, or of frames of the image.
    pieces: Vec<Piece>,
    /// Who failed for good, in this run or before.
    failures: Vec<Failure>,
    pauses: Vec<Pause>,
}

struct Failure {
    unchecked: Unchecked,
    /// What could have been scored.
    categories: Vec<Category>,
}

struct Pause {
    provider: String,
    wait: Duration,
    /// What it could score.
    categories: Vec<Category>,
}

impl<'a> Inquiry<'a> {
    /// One for the text and one for the image, as far as there are such, with what earlier runs have found.
    pub(super) fn of(item: &'a ToAnalyse) -> Vec<Self> {
        let modalities = [
            (Modality::Text, item.text.is_some()),
            (Modality::Image, item.has_picture),
        ];
        modalities
            .into_iter()
            .filter(|(_, is_there)| *is_there)
            .map(|(modality, _)| Self::new(item, modality))
            .collect()
    }

    fn new(item: &'a ToAnalyse, modality: Modality) -> Self {
        let mut inquiry = Self {
            item,
            modality,
            wanted: match item.wanted.as_slice() {
                [] => Category::ALL.to_vec(),
                wanted => wanted.to_vec(),
            },
            scores: Scores::default(),
            left_out: Vec::new(),
            seen: false,
            unseen: None,
            reports: Vec::new(),
            pieces: Vec::new(),
            failures: Vec::new(),
            pauses: Vec::new(),
        };
        for part in inquiry.parts() {
            if let Some(scores) = &part.scores {
                inquiry.scores.merge_max(scores);
                inquiry.seen = true;
            }
            inquiry.unseen = inquiry.unseen.or(part.unseen);
        }
        inquiry
    }

    pub(super) fn modality(&self) -> Modality {
        self.modality
    }

    /// What earlier runs found of this modality.
    fn parts(&self) -> impl Iterator<Item = &'a Part> + use<'a> {
        let modality = self.modality;
        let parts = self.item.parts.iter();
        parts.filter(move |part| part.modality == modality)
    }

    /// What is wanted and not scored.
    pub(super) fn missing(&self) -> Vec<Category> {
        let wanted = self.wanted.iter().copied();
        wanted
            .filter(|category| self.scores.get(*category).is_none())
            .collect()
    }

    /// Whether this provider said something in an earlier run. That it failed for good is remembered.
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

    /// What a provider answered that was asked for these categories.
    pub(super) fn said(
        &mut self,
        provider: &str,
        asked: &[Category],
        answer: Answer,
        elapsed: Duration,
    ) {
        self.scores.merge_max(&answer.scores);
        self.left_out.extend(without(&answer.scores, asked));
        self.seen = true;
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

    /// What was said last was said of some of the image: the rest cannot be shown.
    pub(super) fn saw_in_part(&mut self, problem: ImageProblem) {
        self.unseen = Some(problem);
        if let Some(report) = self.reports.last_mut() {
            report.unseen = Some(problem);
        }
    }

    /// What a provider answered earlier about the equal text of another item.
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

    /// What a provider said of pieces of the text, or of frames of the image, of which others are not done.
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

    /// The site names a provider that there is not. Nobody knows what it could have scored.
    pub(super) fn unknown(&mut self, provider: &str) {
        let detail = "it is not configured";
        self.note(provider, detail.to_owned(), &Category::ALL);
        // It may be known to another worker, so that it is not failed for good.
        self.report_failure(provider, UNKNOWN, Duration::ZERO);
    }

    /// There is no provider at all.
    pub(super) fn nobody(&mut self) {
        let detail = "no provider is configured";
        self.note("analysis", detail.to_owned(), &Category::ALL);
    }

    /// The image cannot be shown to a provider who could have scored this.
    pub(super) fn unseen(&mut self, problem: ImageProblem, categories: &[Category]) {
        self.failures.push(Failure {
            unchecked: Unchecked::ImageNotAnalysed { problem },
            categories: categories.to_vec(),
        });
    }

    /// Remembers that a provider failed for good.
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

    /// How long to wait for something that is missing; none if nobody who is paused could score it.
    pub(super) fn wait(&self) -> Option<Duration> {
        let missing = self.missing();
        let awaited = self
            .pauses
            .iter()
            .filter(|pause| meet(&pause.categories, &missing));
        awaited.map(|pause| pause.wait).min()
    }

    /// Whether anything was learned in this run.
    pub(super) fn is_begun(&self) -> bool {
        !self.reports.is_empty() || !self.pieces.is_empty()
    }

    /// What was learned in this run, to be kept until the next; none if that is nothing.
    pub(super) fn begun(inquiries: Vec<Self>) -> Option<Stage> {
        let media = inquiries.first()?.item.media;
        let (mut reports, mut pieces) = (Vec::new(), Vec::new());
        for inquiry in inquiries {
            reports.extend(inquiry.reports);
            pieces.extend(inquiry.pieces);
        }
        reports.retain(|report| report.failure.as_deref() != Some(UNKNOWN));
        let is_begun = !reports.is_empty() || !pieces.is_empty();
        is_begun.then_some(Stage::Begun {
            media,
            reports,
            pieces,
        })
    }

    /// The scores of all, what was learned in this run, and what could not be checked.
    pub(super) fn end(item: &ToAnalyse, inquiries: Vec<Self>) -> Analysed {
        let mut scores = Scores::default();
        let mut analysed = Analysed {
            media: item.media,
            team: item.team,
            scores: None,
            image_scored: None,
            providers: Vec::new(),
            unchecked: Vec::new(),
            gaps: Vec::new(),
            has_parts: !item.parts.is_empty() || !item.pieces.is_empty(),
        };
        for inquiry in inquiries {
            scores.merge_max(&inquiry.scores);
            let mut unchecked = inquiry.unchecked();
            let gap = inquiry.gap();
            let nothing = inquiry.missing().len() == inquiry.wanted.len();
            let unexplained = nothing && unchecked.is_empty() && gap.left_out.is_empty();
            match inquiry.modality {
                Modality::Text if unexplained => unchecked.push(Unchecked::TextNotScored),
                Modality::Image if !nothing => analysed.image_scored = Some(true),
                // Where nobody was there to look, the judge says so himself.
                Modality::Image if unexplained && inquiry.seen => {
                    analysed.image_scored = Some(false);
                }
                Modality::Text | Modality::Image => {}
            }
            analysed.gaps.push(gap);
            analysed.unchecked.extend(unchecked);
            analysed.providers.extend(inquiry.reports);
        }
        analysed.scores = (!scores.is_empty()).then_some(scores);
        analysed
    }

    /// What has no score, although nobody failed or was paused who could have scored it.
    fn gap(&self) -> Gap {
        let failures = self.failures.iter().map(|failure| &failure.categories);
        let pauses = self.pauses.iter().map(|pause| &pause.categories);
        let told: Vec<Category> = failures.chain(pauses).flatten().copied().collect();
        let mut unscored = self.missing();
        unscored.retain(|category| !told.contains(category));
        let mut left_out = self.missing();
        left_out.retain(|category| self.left_out.contains(category));
        Gap {
            modality: self.modality,
            unscored,
            left_out,
        }
    }

    /// Who could not be asked for what nobody else has scored, and why not all of the image was shown.
    fn unchecked(&self) -> Vec<Unchecked> {
        let missing = self.missing();
        let failures = self.failures.iter();
        let failures = failures.map(|failure| (failure.unchecked.clone(), &failure.categories));
        let pauses = self.pauses.iter().map(|pause| {
            let detail = "it was paused for as long as the item could wait".to_owned();
            (self.failure_of(&pause.provider, detail), &pause.categories)
        });
        let mut unchecked: Vec<Unchecked> = failures
            .chain(pauses)
            .filter(|(_, categories)| meet(categories, &missing))
            .map(|(unchecked, _)| unchecked)
            .collect();
        // Whatever was scored was scored of the rest.
        let unseen = self
            .unseen
            .map(|problem| Unchecked::ImageNotAnalysed { problem });
        unchecked.extend(unseen);
        unchecked.dedup();
        unchecked
    }
}

/// Those that have no score.
fn without(scores: &Scores, categories: &[Category]) -> impl Iterator<Item = Category> {
    let categories = categories.iter().copied();
    categories.filter(|category| scores.get(*category).is_none())
}

fn meet(some: &[Category], others: &[Category]) -> bool {
    some.iter().any(|category| others.contains(category))
}

fn millis(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
