//! The outcome of the analysis of a text or an image: what is kept for the next run, the scores, and what could not be checked.

use std::time::Duration;

use domain::{
    decision::{MissingScores, Unchecked},
    media::Modality,
    score::{Category, Scores},
};
use store::{
    analysis::{Analysed, ToAnalyse},
    item_progress::Stage,
};

use super::{ModalityAnalysis, UNKNOWN};

impl ModalityAnalysis<'_> {
    /// How long to wait for missing scores. None if no paused provider could score them.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let missing = self.missing();
        let awaited = self
            .pauses
            .iter()
            .filter(|pause| meet(&pause.categories, &missing));
        awaited.map(|pause| pause.wait).min()
    }

    /// Whether anything was learned in this run.
    pub(crate) fn is_begun(&self) -> bool {
        !self.reports.is_empty() || !self.pieces.is_empty()
    }

    /// What was learned in this run, to be kept for the next one. None if nothing was learned.
    pub(crate) fn begun(modality_analyses: Vec<Self>) -> Option<Stage> {
        let media = modality_analyses.first()?.item.media;
        let (mut reports, mut pieces) = (Vec::new(), Vec::new());
        for modality_analysis in modality_analyses {
            reports.extend(modality_analysis.reports);
            pieces.extend(modality_analysis.pieces);
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
    pub(crate) fn end(item: &ToAnalyse, modality_analyses: Vec<Self>) -> Analysed {
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
        for modality_analysis in modality_analyses {
            scores.merge_max(&modality_analysis.scores);
            let mut unchecked = modality_analysis.unchecked();
            let missing = modality_analysis.missing_scores();
            let nothing = modality_analysis.missing().len() == modality_analysis.wanted.len();
            let unexplained = nothing && unchecked.is_empty() && missing.left_out.is_empty();
            match modality_analysis.modality {
                Modality::Text if unexplained => unchecked.push(Unchecked::TextNotScored),
                // The request wanted them. The decision knows only of categories that rules want.
                Modality::Text if modality_analysis.all_scores && !missing.left_out.is_empty() => {
                    unchecked.push(Unchecked::CategoriesNotScored {
                        modality: Modality::Text,
                        categories: missing.left_out.clone(),
                    });
                }
                // Without rules that want scores, nobody said that this little is enough.
                Modality::Image
                    if item.wanted.is_empty() && modality_analysis.is_seen_narrowly() => {}
                Modality::Image if !nothing => analysed.image_scored = Some(true),
                // If no provider looked at the image, the rules step records that.
                Modality::Image if unexplained && modality_analysis.seen => {
                    analysed.image_scored = Some(false);
                }
                Modality::Text | Modality::Image => {}
            }
            analysed.gaps.push(missing);
            analysed.unchecked.extend(unchecked);
            analysed.providers.extend(modality_analysis.reports);
        }
        analysed.scores = (!scores.is_empty()).then_some(scores);
        analysed
    }

    /// The categories without a score for which no provider failed or was paused.
    fn missing_scores(&self) -> MissingScores {
        let failures = self.failures.iter().map(|failure| &failure.categories);
        let pauses = self.pauses.iter().map(|pause| &pause.categories);
        let told: Vec<Category> = failures.chain(pauses).flatten().copied().collect();
        let mut unscored = self.missing();
        unscored.retain(|category| !told.contains(category));
        let mut left_out = self.missing();
        let narrowly = self.is_seen_narrowly();
        left_out.retain(|category| {
            self.left_out.contains(category) || narrowly && unscored.contains(category)
        });
        MissingScores {
            modality: self.modality,
            unscored,
            left_out,
        }
    }

    /// The providers that could not be asked about categories that have no score, and why part of
    /// the image was not shown.
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
        // The scores are those of the rest.
        let unseen = self
            .unseen
            .map(|problem| Unchecked::ImageNotAnalysed { problem });
        unchecked.extend(unseen);
        unchecked.dedup();
        unchecked
    }
}

fn meet(some: &[Category], others: &[Category]) -> bool {
    some.iter().any(|category| others.contains(category))
}
