//! What is known of an item in the course of its analysis: what was scored, by whom, and who could not.

use std::time::Duration;

use domain::{
    decision::Unchecked,
    score::{Category, Scores},
};
use store::analysis::{Progress, ProviderReport, ToAnalyse};

use crate::provider::{Answer, ProviderError};

/// The word for a provider that a site names and this process does not know.
const UNKNOWN: &str = "unknown";

/// An analysis in progress.
pub(super) struct Inquiry<'a> {
    item: &'a ToAnalyse,
    wanted: Vec<Category>,
    /// Over all providers and runs.
    scores: Scores,
    /// Whether anybody answered.
    answered: bool,
    /// What was learned in this run.
    reports: Vec<ProviderReport>,
    /// Who failed for good, in this run or before.
    failures: Vec<Failure>,
    pauses: Vec<Pause>,
}

struct Failure {
    provider: String,
    detail: String,
    /// What it could have scored.
    categories: Vec<Category>,
}

struct Pause {
    provider: String,
    wait: Duration,
    /// What it could score.
    categories: Vec<Category>,
}

impl<'a> Inquiry<'a> {
    /// With what earlier runs have found.
    pub(super) fn of(item: &'a ToAnalyse) -> Self {
        let mut scores = Scores::default();
        let found = item.parts.iter().filter_map(|part| part.scores.as_ref());
        for part in found.clone() {
            scores.merge_max(part);
        }
        Self {
            item,
            wanted: match item.wanted.as_slice() {
                [] => Category::ALL.to_vec(),
                wanted => wanted.to_vec(),
            },
            scores,
            answered: found.count() > 0,
            reports: Vec::new(),
            failures: Vec::new(),
            pauses: Vec::new(),
        }
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
        let part = self
            .item
            .parts
            .iter()
            .find(|part| part.provider == provider);
        let Some(part) = part else { return false };
        if part.scores.is_none() {
            self.failures.push(Failure {
                provider: provider.to_owned(),
                detail: "it failed for good in an earlier run".to_owned(),
                categories: categories.to_vec(),
            });
        }
        true
    }

    pub(super) fn said(&mut self, provider: &str, answer: Answer, elapsed: Duration) {
        self.scores.merge_max(&answer.scores);
        self.answered = true;
        self.reports.push(ProviderReport {
            provider: provider.to_owned(),
            scores: answer.scores,
            elapsed_ms: millis(elapsed),
            failure: None,
            raw: answer.raw,
        });
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
        self.failures.push(Failure {
            provider: provider.to_owned(),
            detail: error.to_string(),
            categories: categories.to_vec(),
        });
        self.report_failure(provider, error.reason(), elapsed);
    }

    /// The site names a provider that there is not. Nobody knows what it could have scored.
    pub(super) fn unknown(&mut self, provider: &str) {
        self.failures.push(Failure {
            provider: provider.to_owned(),
            detail: "it is not configured".to_owned(),
            categories: Category::ALL.to_vec(),
        });
        // It may be known to another worker, so that it is not failed for good.
        self.report_failure(provider, UNKNOWN, Duration::ZERO);
    }

    /// There is no provider at all.
    pub(super) fn nobody(&mut self) {
        self.failures.push(Failure {
            provider: "analysis".to_owned(),
            detail: "no provider is configured".to_owned(),
            categories: Category::ALL.to_vec(),
        });
    }

    fn report_failure(&mut self, provider: &str, reason: &str, elapsed: Duration) {
        self.reports.push(ProviderReport {
            provider: provider.to_owned(),
            scores: Scores::default(),
            elapsed_ms: millis(elapsed),
            failure: Some(reason.to_owned()),
            raw: None,
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
        !self.reports.is_empty()
    }

    /// What was learned in this run, to be kept until the next; none if that is nothing.
    pub(super) fn begun(self) -> Option<Progress> {
        let (media, mut reports) = (self.item.media, self.reports);
        reports.retain(|report| report.failure.as_deref() != Some(UNKNOWN));
        (!reports.is_empty()).then_some(Progress::Begun { media, reports })
    }

    /// The scores, what was learned in this run, and what could not be checked.
    pub(super) fn end(self) -> (Option<Scores>, Vec<ProviderReport>, Vec<Unchecked>) {
        let missing = self.missing();
        let failures = self.failures.iter();
        let failures = failures.map(|f| (&f.provider, f.detail.clone(), &f.categories));
        let pauses = self.pauses.iter().map(|pause| {
            let detail = "it was paused for as long as the item could wait".to_owned();
            (&pause.provider, detail, &pause.categories)
        });
        let mut unchecked: Vec<Unchecked> = failures
            .chain(pauses)
            .filter(|(_, _, categories)| meet(categories, &missing))
            .map(|(provider, detail, _)| Unchecked::ProviderFailed {
                provider: provider.clone(),
                detail,
            })
            .collect();
        if self.answered && missing.len() == self.wanted.len() {
            unchecked.push(Unchecked::TextNotScored);
        }
        let scores = (!self.scores.is_empty()).then_some(self.scores);
        (scores, self.reports, unchecked)
    }
}

fn meet(some: &[Category], others: &[Category]) -> bool {
    some.iter().any(|category| others.contains(category))
}

fn millis(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
