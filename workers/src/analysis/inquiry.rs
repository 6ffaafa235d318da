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
mod tests {
    use std::sync::Arc;

    use domain::media::OnFailure;
    use uuid::Uuid;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn item(wanted: &[Category], parts: Vec<Part>) -> ToAnalyse {
        ToAnalyse {
            media: Uuid::nil().into(),
            team: Uuid::nil().into(),
            site: Uuid::nil().into(),
            text: Some(Arc::from("text")),
            has_picture: false,
            image_matches: Vec::new(),
            group_versions: Vec::new(),
            shadows: Vec::new(),
            on_failure: OnFailure::Review,
            has_image: false,
            image_problem: None,
            rules_are_held: false,
            wanted: wanted.to_vec(),
            preferred: None,
            policy: None,
            answers_hold: None,
            parts,
            pieces: Vec::new(),
            age: Duration::ZERO,
        }
    }

    fn text(item: &ToAnalyse) -> Inquiry<'_> {
        Inquiry::new(item, Modality::Text)
    }

    fn image(item: &ToAnalyse) -> Inquiry<'_> {
        Inquiry::new(item, Modality::Image)
    }

    fn ended(inquiry: Inquiry<'_>) -> Analysed {
        let item = inquiry.item;
        Inquiry::end(item, vec![inquiry])
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
            let mut inquiry = text(&item);
            inquiry.failed("first", &[Violence, Spam], &ProviderError::TimedOut, SECOND);
            inquiry.said("second", &[Hate], answer(&[(Hate, 0.1)]), SECOND);
            inquiry.said("third", &[], answer(also), SECOND);
            ended(inquiry)
        };
        let helped = failed(&[(Violence, 0.2)]);
        assert_eq!(helped.scores.unwrap().get(Violence), Some(0.2));
        assert_eq!(helped.providers[0].failure.as_deref(), Some("timed_out"));
        assert_eq!(helped.unchecked, []);
        let alone = failed(&[]);
        assert_eq!(names(&alone.unchecked), ["the analysis by `first` failed"]);
    }

    #[test]
    fn a_category_that_nobody_can_score_is_absent_and_nothing_more_unless_all_are() {
        use Category::{Spam, Violence};
        let both = item(&[Violence, Spam], Vec::new());
        let mut inquiry = text(&both);
        inquiry.said("one", &[Violence], answer(&[(Violence, 0.1)]), SECOND);
        assert_eq!(inquiry.missing(), [Spam]);
        let analysed = ended(inquiry);
        assert_eq!(analysed.scores.unwrap().get(Spam), None);
        assert_eq!(analysed.unchecked, []);

        let spam = item(&[Spam], Vec::new());
        let nobody_asked = ended(text(&spam));
        let mut inquiry = text(&spam);
        inquiry.said("one", &[Violence], answer(&[(Violence, 0.1)]), SECOND);
        for analysed in [nobody_asked, ended(inquiry)] {
            assert_eq!(analysed.unchecked, [Unchecked::TextNotScored]);
        }
    }

    #[test]
    fn what_a_provider_lists_and_leaves_out_is_a_gap_unless_another_scores_it() {
        use Category::{Adult, Spam, Violence};
        let item = item(&[Adult, Violence, Spam], Vec::new());
        let asked = |later: &[(Category, f64)]| {
            let mut inquiry = image(&item);
            inquiry.said(
                "one",
                &[Adult, Violence],
                answer(&[(Violence, 0.1)]),
                SECOND,
            );
            inquiry.said("two", &[Adult], answer(later), SECOND);
            ended(inquiry).gaps
        };
        let gap = |unscored: &[Category], left_out: &[Category]| {
            vec![Gap {
                modality: Modality::Image,
                unscored: unscored.to_vec(),
                left_out: left_out.to_vec(),
            }]
        };
        assert_eq!(asked(&[]), gap(&[Adult, Spam], &[Adult]));
        assert_eq!(asked(&[(Adult, 0.0)]), gap(&[Spam], &[]));

        // In an earlier run, too.
        let part = Part {
            provider: "one".into(),
            modality: Modality::Image,
            scores: Some([(Violence, 0.1)].into_iter().collect()),
            unseen: None,
        };
        let item = self::item(&[Adult, Violence], vec![part]);
        let mut inquiry = image(&item);
        assert!(inquiry.has_asked("one", &[Adult, Violence]));
        assert_eq!(ended(inquiry).gaps, gap(&[Adult], &[Adult]));
    }

    #[test]
    fn it_waits_for_who_is_back_first_among_those_who_can_score_what_is_missing() {
        use Category::{Hate, Spam, Violence};
        let item = item(&[Violence, Hate], Vec::new());
        let mut inquiry = text(&item);
        inquiry.paused("useless", &[Spam], SECOND);
        assert_eq!(inquiry.wait(), None);
        inquiry.paused("late", &[Violence], 9 * SECOND);
        inquiry.paused("soon", &[Hate], 5 * SECOND);
        assert_eq!(inquiry.wait(), Some(5 * SECOND));
        inquiry.said("other", &[Hate], answer(&[(Hate, 0.0)]), SECOND);
        assert_eq!(inquiry.wait(), Some(9 * SECOND));
        let analysed = ended(inquiry);
        assert_eq!(
            names(&analysed.unchecked),
            ["the analysis by `late` failed"]
        );
    }

    #[test]
    fn what_earlier_runs_found_counts_and_is_not_asked_for_again() {
        use Category::{Hate, Violence};
        let earlier = Part {
            provider: "scored".into(),
            modality: Modality::Text,
            scores: Some([(Violence, 0.9)].into_iter().collect()),
            unseen: None,
        };
        let failed = Part {
            provider: "failed".into(),
            modality: Modality::Text,
            scores: None,
            unseen: None,
        };
        let item = item(&[Violence, Hate], vec![earlier, failed]);
        let mut inquiry = text(&item);
        assert_eq!(inquiry.missing(), [Hate]);
        assert!(inquiry.has_asked("scored", &[Violence]));
        assert!(inquiry.has_asked("failed", &[Hate]));
        assert!(!inquiry.has_asked("new", &[Hate]));
        assert!(!inquiry.is_begun());
        let analysed = ended(inquiry);
        assert_eq!(analysed.scores.unwrap().get(Violence), Some(0.9));
        assert!(analysed.providers.is_empty(), "they are kept already");
        assert_eq!(
            names(&analysed.unchecked),
            ["the analysis by `failed` failed"]
        );

        // What was found of the text is nothing about the image.
        let mut inquiry = image(&item);
        assert_eq!(inquiry.missing(), [Violence, Hate]);
        assert!(!inquiry.has_asked("scored", &[Violence]));
    }

    #[test]
    fn the_text_and_the_image_are_kept_apart_and_the_higher_score_counts() {
        use Category::{Hate, Violence};
        let item = item(&[Violence, Hate], Vec::new());
        let mut of_text = text(&item);
        of_text.said(
            "one",
            &[Violence, Hate],
            answer(&[(Violence, 0.1), (Hate, 0.6)]),
            SECOND,
        );
        let mut of_image = image(&item);
        of_image.said("one", &[Violence], answer(&[(Violence, 0.7)]), SECOND);
        assert_eq!(
            (of_text.missing(), of_image.missing()),
            (vec![], vec![Hate])
        );
        let analysed = Inquiry::end(&item, vec![of_text, of_image]);
        let scores = analysed.scores.unwrap();
        assert_eq!(
            (scores.get(Violence), scores.get(Hate)),
            (Some(0.7), Some(0.6))
        );
        assert_eq!(analysed.image_scored, Some(true));
        assert_eq!(analysed.unchecked, []);
        let told: Vec<_> = analysed.providers.iter().map(|r| r.modality).collect();
        assert_eq!(told, [Modality::Text, Modality::Image]);
    }

    #[test]
    fn an_image_is_scored_or_was_only_looked_at_or_not_even_that() {
        use Category::{Hate, Violence};
        let item = item(&[Violence], Vec::new());
        let nobody = ended(image(&item));
        assert_eq!((nobody.image_scored, nobody.unchecked), (None, vec![]));

        let mut looked = image(&item);
        looked.said("one", &[], answer(&[(Hate, 0.1)]), SECOND);
        let looked = ended(looked);
        assert_eq!(
            (looked.image_scored, looked.unchecked),
            (Some(false), vec![])
        );

        let mut failed = image(&item);
        failed.said("one", &[], answer(&[]), SECOND);
        failed.failed("two", &[Violence], &ProviderError::TimedOut, SECOND);
        let failed = ended(failed);
        assert_eq!(failed.image_scored, None);
        assert_eq!(
            names(&failed.unchecked),
            ["the analysis of the image by `two` failed"]
        );

        let mut broken = image(&item);
        broken.unseen(ImageProblem::Undecodable, &[Violence]);
        let broken = ended(broken);
        assert_eq!(names(&broken.unchecked), ["the image could not be decoded"]);
    }

    #[test]
    fn an_image_that_was_shown_in_part_is_unchecked_although_all_was_scored() {
        use Category::Violence;
        let item = item(&[Violence], Vec::new());
        let mut inquiry = image(&item);
        inquiry.said("one", &[Violence], answer(&[(Violence, 0.1)]), SECOND);
        inquiry.saw_in_part(ImageProblem::TooLarge);
        let analysed = ended(inquiry);
        let problem = ImageProblem::TooLarge;
        let told = [Unchecked::ImageNotAnalysed { problem }];
        assert_eq!(analysed.unchecked, told);
        assert_eq!(analysed.providers[0].unseen, Some(problem));

        // In an earlier run, too.
        let part = Part {
            provider: "one".into(),
            modality: Modality::Image,
            scores: Some([(Violence, 0.1)].into_iter().collect()),
            unseen: Some(problem),
        };
        let item = self::item(&[Violence], vec![part]);
        assert_eq!(ended(image(&item)).unchecked, told);
    }

    #[test]
    fn an_unknown_provider_is_told_at_the_end_and_may_be_known_to_the_next_run() {
        let item = item(&[Category::Hate], Vec::new());
        let unknown = || {
            let mut inquiry = text(&item);
            inquiry.unknown("gone");
            inquiry
        };
        assert!(Inquiry::begun(vec![unknown()]).is_none());
        let analysed = ended(unknown());
        assert_eq!(analysed.providers[0].failure.as_deref(), Some(UNKNOWN));
        assert_eq!(
            names(&analysed.unchecked),
            ["the analysis by `gone` failed"]
        );
    }
}
