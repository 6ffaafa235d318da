//! The meaning of labels, by version 7 of the taxonomy.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use serde::Deserialize;

use crate::provider::{
    ProviderError,
    transport::{parsed, score},
};

/// The beginning of the taxonomy's version. In this version, absent labels are known to be 0.
const VERSION: &str = "7.";
/// The longest chain of parents: the taxonomy has three levels.
const LEVELS: usize = 3;
/// A label below violence that is a category of its own here.
const SELF_HARM: &str = "Self-Harm";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Response {
    moderation_labels: Vec<Label>,
    moderation_model_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Label {
    name: String,
    /// Empty or missing for labels at the top.
    #[serde(default)]
    parent_name: String,
    /// From 0 to 100.
    confidence: f64,
}

/// Labels by their names, with scores.
struct Tree<'a> {
    parents: BTreeMap<&'a str, &'a str>,
    scores: BTreeMap<&'a str, f64>,
}

/// The highest confidence among the labels of each category.
pub(super) fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    if !response.moderation_model_version.starts_with(VERSION) {
        return Err(ProviderError::Malformed("another taxonomy"));
    }
    let tree = Tree::of(&response.moderation_labels)?;
    let scores = categories.iter().map(|category| {
        let labels = tree.scores.iter();
        let ours = labels.filter(|(name, _)| tree.means(name, *category));
        (*category, ours.map(|(_, score)| *score).fold(0.0, f64::max))
    });
    Ok(scores.collect())
}

impl<'a> Tree<'a> {
    fn of(labels: &'a [Label]) -> Result<Self, ProviderError> {
        let mut tree = Self {
            parents: BTreeMap::new(),
            scores: BTreeMap::new(),
        };
        for label in labels {
            tree.parents.insert(&label.name, &label.parent_name);
            let score = score(label.confidence / 100.0)?;
            let highest = tree.scores.entry(&label.name).or_insert(score);
            *highest = highest.max(score);
        }
        Ok(tree)
    }

    /// Whether a label, or one above it, has this name.
    fn is_below(&self, label: &str, name: &str) -> bool {
        let above = std::iter::successors(Some(label), |label| self.parents.get(label).copied());
        above.take(LEVELS).any(|label| label == name)
    }

    fn means(&self, label: &str, category: Category) -> bool {
        match category {
            Category::Adult => self.is_below(label, "Explicit"),
            Category::Violence => {
                self.is_below(label, "Visually Disturbing")
                    || self.is_below(label, "Violence") && !self.is_explained_by_self_harm(label)
            }
            Category::Hate => self.is_below(label, "Hate Symbols"),
            Category::SelfHarm => self.is_below(label, SELF_HARM),
            Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => {
                false
            }
        }
    }

    /// Whether a label of violence is only about self-harm: it is the label of self-harm, or a
    /// parent of it and not more certain.
    fn is_explained_by_self_harm(&self, label: &str) -> bool {
        let certain = |label: &str| self.scores.get(label).copied().unwrap_or(0.0);
        self.is_below(label, SELF_HARM)
            || self.is_below(SELF_HARM, label) && certain(label) <= certain(SELF_HARM)
    }
}
