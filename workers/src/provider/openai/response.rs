//! The answers of the endpoint: flags and scores by its own categories, mapped to ours.

use std::collections::BTreeMap;

use domain::{
    media::Modality,
    score::{Category, Scores},
};
use serde::Deserialize;

use crate::provider::{
    ProviderError,
    transport::{parsed, score, unique_keys},
};

#[derive(Deserialize)]
struct Response {
    results: Vec<Judgement>,
}

#[derive(Deserialize)]
struct Judgement {
    /// The flagged categories. Compatible servers may leave this out.
    #[serde(default, deserialize_with = "unique_keys")]
    categories: BTreeMap<String, Option<bool>>,
    #[serde(deserialize_with = "unique_keys")]
    category_scores: BTreeMap<String, Option<f64>>,
    /// Whether each score is about texts or images. Compatible servers for texts only leave this
    /// out.
    #[serde(default, deserialize_with = "unique_keys")]
    category_applied_input_types: BTreeMap<String, Vec<String>>,
}

/// Reads the answer to one input.
pub(super) fn read(
    body: &[u8],
    modality: Modality,
    categories: &[Category],
    flagged_at_least: f64,
) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    let [judgement] = response.results.as_slice() else {
        return Err(ProviderError::Malformed("not one result for one input"));
    };
    judgement.scores(modality, categories, flagged_at_least)
}

impl Judgement {
    /// The score of each of our categories is the maximum of theirs. All of theirs must be present.
    /// Ours is absent if theirs are null, or not about this kind of content.
    fn scores(
        &self,
        modality: Modality,
        categories: &[Category],
        flagged_at_least: f64,
    ) -> Result<Scores, ProviderError> {
        let mut scores = Scores::default();
        for category in categories {
            let missing = || ProviderError::Malformed("a category is missing");
            let mut theirs = Vec::new();
            for name in names(*category) {
                if self.applies(name, modality).ok_or_else(missing)? {
                    let score = *self.category_scores.get(*name).ok_or_else(missing)?;
                    let is_flagged = self.categories.get(*name).copied().flatten() == Some(true);
                    let least = if is_flagged { flagged_at_least } else { 0.0 };
                    theirs.push(score.map(|told| score_of(told, least)).transpose()?);
                }
            }
            let known: Vec<f64> = theirs.iter().copied().flatten().collect();
            match known.iter().copied().reduce(f64::max) {
                Some(score) if known.len() == theirs.len() => scores.set(*category, score),
                Some(_) => return Err(ProviderError::Malformed("half a category is scored")),
                None => {}
            }
        }
        Ok(scores)
    }

    /// Whether one of their scores is about this kind of content, if that is known. Servers for
    /// texts only need not say.
    fn applies(&self, name: &str, modality: Modality) -> Option<bool> {
        let types = self.category_applied_input_types.get(name);
        let is_of = |shown: &str| types.map(|types| types.iter().any(|kind| kind == shown));
        match modality {
            Modality::Text => is_of("text").or(Some(true)),
            Modality::Image => is_of("image"),
        }
    }
}

/// Their score, raised to at least `least`.
fn score_of(told: f64, least: f64) -> Result<f64, ProviderError> {
    score(told).map(|told| told.max(least))
}

/// Their categories for one of ours.
const fn names(ours: Category) -> &'static [&'static str] {
    match ours {
        Category::Adult => &["sexual", "sexual/minors"],
        Category::Violence => &["violence", "violence/graphic"],
        Category::Hate => &["hate", "hate/threatening"],
        Category::SelfHarm => &["self-harm", "self-harm/intent", "self-harm/instructions"],
        Category::Harassment => &["harassment", "harassment/threatening"],
        Category::SexualMinors => &["sexual/minors"],
        Category::Illicit => &["illicit", "illicit/violent"],
        Category::Spam => &[],
    }
}
