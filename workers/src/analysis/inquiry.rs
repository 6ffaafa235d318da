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
        for part in item.parts.iter().filter_map(|part| part.scores.as_ref()) {
            scores.merge_max(part);
        }
        Self {
            item,
            wanted: match item.wanted.as_slice() {
                [] => Category::ALL.to_vec(),
                wanted => wanted.to_vec(),
            },
            scores,
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
        if unchecked.is_empty() && missing.len() == self.wanted.len() {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::analysis::Part;
    use uuid::Uuid;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn item(wanted: &[Category], parts: Vec<Part>) -> ToAnalyse {
        ToAnalyse {
            media: Uuid::nil().into(),
            team: Uuid::nil().into(),
            text: Some(Arc::from("text")),
            has_image: false,
            wanted: wanted.to_vec(),
            preferred: None,
            policy: None,
            parts,
            age: Duration::ZERO,
        }
    }

    fn answer(scores: &[(Category, f64)]) -> Answer {
        Answer {
            scores: scores.iter().copied().collect(),
            ..Answer::default()
        }
    }

    fn names(unchecked: &[Unchecked]) -> Vec<String> {
        unchecked.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn who_failed_is_unchecked_only_for_what_nobody_else_has_scored() {
        use Category::{Hate, Spam, Violence};
        let item = item(&[Violence, Hate], Vec::new());
        let failed = |also: &[(Category, f64)]| {
            let mut inquiry = Inquiry::of(&item);
            inquiry.failed("first", &[Violence, Spam], &ProviderError::TimedOut, SECOND);
            inquiry.said("second", answer(&[(Hate, 0.1)]), SECOND);
            inquiry.said("third", answer(also), SECOND);
            inquiry.end()
        };
        let (scores, reports, unchecked) = failed(&[(Violence, 0.2)]);
        assert_eq!(scores.unwrap().get(Violence), Some(0.2));
        assert_eq!(reports[0].failure.as_deref(), Some("timed_out"));
        assert_eq!(unchecked, []);
        let (_, _, unchecked) = failed(&[]);
        assert_eq!(names(&unchecked), ["the analysis by `first` failed"]);
    }

    #[test]
    fn a_category_that_nobody_can_score_is_absent_and_nothing_more_unless_all_are() {
        use Category::{Spam, Violence};
        let both = item(&[Violence, Spam], Vec::new());
        let mut inquiry = Inquiry::of(&both);
        inquiry.said("one", answer(&[(Violence, 0.1)]), SECOND);
        assert_eq!(inquiry.missing(), [Spam]);
        let (scores, _, unchecked) = inquiry.end();
        assert_eq!((scores.unwrap().get(Spam), unchecked), (None, Vec::new()));

        let spam = item(&[Spam], Vec::new());
        let nobody_asked = Inquiry::of(&spam).end();
        let mut inquiry = Inquiry::of(&spam);
        inquiry.said("one", answer(&[(Violence, 0.1)]), SECOND);
        for (_, _, unchecked) in [nobody_asked, inquiry.end()] {
            assert_eq!(unchecked, [Unchecked::TextNotScored]);
        }
    }

    #[test]
    fn it_waits_for_who_is_back_first_among_those_who_can_score_what_is_missing() {
        use Category::{Hate, Spam, Violence};
        let item = item(&[Violence, Hate], Vec::new());
        let mut inquiry = Inquiry::of(&item);
        inquiry.paused("useless", &[Spam], SECOND);
        assert_eq!(inquiry.wait(), None);
        inquiry.paused("late", &[Violence], 9 * SECOND);
        inquiry.paused("soon", &[Hate], 5 * SECOND);
        assert_eq!(inquiry.wait(), Some(5 * SECOND));
        inquiry.said("other", answer(&[(Hate, 0.0)]), SECOND);
        assert_eq!(inquiry.wait(), Some(9 * SECOND));
        let (_, _, unchecked) = inquiry.end();
        assert_eq!(names(&unchecked), ["the analysis by `late` failed"]);
    }

    #[test]
    fn what_earlier_runs_found_counts_and_is_not_asked_for_again() {
        use Category::{Hate, Violence};
        let earlier = Part {
            provider: "scored".into(),
            scores: Some([(Violence, 0.9)].into_iter().collect()),
        };
        let failed = Part {
            provider: "failed".into(),
            scores: None,
        };
        let item = item(&[Violence, Hate], vec![earlier, failed]);
        let mut inquiry = Inquiry::of(&item);
        assert_eq!(inquiry.missing(), [Hate]);
        assert!(inquiry.has_asked("scored", &[Violence]));
        assert!(inquiry.has_asked("failed", &[Hate]));
        assert!(!inquiry.has_asked("new", &[Hate]));
        assert!(!inquiry.is_begun());
        let (scores, reports, unchecked) = inquiry.end();
        assert_eq!(scores.unwrap().get(Violence), Some(0.9));
        assert!(reports.is_empty(), "they are kept already");
        assert_eq!(names(&unchecked), ["the analysis by `failed` failed"]);
    }

    #[test]
    fn an_unknown_provider_is_told_at_the_end_and_may_be_known_to_the_next_run() {
        let item = item(&[Category::Hate], Vec::new());
        let unknown = || {
            let mut inquiry = Inquiry::of(&item);
            inquiry.unknown("gone");
            inquiry
        };
        assert!(unknown().begun().is_none());
        let (_, reports, unchecked) = unknown().end();
        assert_eq!(reports[0].failure.as_deref(), Some(UNKNOWN));
        assert_eq!(names(&unchecked), ["the analysis by `gone` failed"]);
    }
}
