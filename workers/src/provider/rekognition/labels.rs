//! What labels mean, by version 7 of the taxonomy.

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use serde::Deserialize;

use crate::provider::{
    ProviderError,
    wire::{parsed, score},
};

/// The first digits of a version of the taxonomy whose absent labels we know to be 0.
const VERSION: &str = "7.";
/// No chain of parents is longer: the taxonomy has three levels.
const LEVELS: usize = 3;
/// A label of violence that is a category of its own for us.
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
    /// Empty, or not there, at the top.
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

    /// Whether a label of violence is there for self-harm only: it is that, or above it and no more certain.
    fn is_explained_by_self_harm(&self, label: &str) -> bool {
        let certain = |label: &str| self.scores.get(label).copied().unwrap_or(0.0);
        self.is_below(label, SELF_HARM)
            || self.is_below(SELF_HARM, label) && certain(label) <= certain(SELF_HARM)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::provider::Rekognition;

    fn read_labels(labels: &[(&str, &str, f64)]) -> Result<Scores, ProviderError> {
        let labels: Vec<_> = labels
            .iter()
            .map(|(name, parent, confidence)| {
                json!({ "Name": name, "ParentName": parent, "Confidence": confidence, "TaxonomyLevel": 1 })
            })
            .collect();
        let body = json!({ "ModerationLabels": labels, "ModerationModelVersion": "7.0", "ContentTypes": [] });
        read(&serde_json::to_vec(&body).unwrap(), Rekognition::CATEGORIES)
    }

    fn one(labels: &[(&str, &str, f64)], category: Category) -> Option<f64> {
        read_labels(labels).unwrap().get(category)
    }

    #[test]
    fn without_labels_all_that_the_taxonomy_covers_is_0_and_nothing_else_is_scored() {
        let scores = read_labels(&[]).unwrap();
        let expected: Vec<_> = Rekognition::CATEGORIES.iter().map(|c| (*c, 0.0)).collect();
        assert_eq!(scores.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_label_counts_for_the_top_of_its_branch() {
        let explicit = [
            ("Exposed Male Genitalia", "Explicit Nudity", 75.0),
            ("Explicit Nudity", "Explicit", 50.0),
            ("Explicit", "", 50.0),
        ];
        assert_eq!(one(&explicit, Category::Adult), Some(0.75));
        assert_eq!(one(&explicit, Category::Violence), Some(0.0));
        let swimming = [("Swimwear or Underwear", "", 99.0)];
        assert_eq!(one(&swimming, Category::Adult), Some(0.0));
        let symbols = [
            ("Nazi Party", "Hate Symbols", 25.0),
            ("Hate Symbols", "", 25.0),
        ];
        assert_eq!(one(&symbols, Category::Hate), Some(0.25));
        let crash = [
            ("Air Crash", "Crashes", 50.0),
            ("Crashes", "Visually Disturbing", 50.0),
        ];
        assert_eq!(one(&crash, Category::Violence), Some(0.5));
    }

    #[test]
    fn self_harm_is_no_violence_and_neither_is_what_stands_above_it() {
        let above = [
            ("Graphic Violence", "Violence", 75.0),
            ("Violence", "", 75.0),
        ];
        let harm = ("Self-Harm", "Graphic Violence", 75.0);
        let alone = [above[0], above[1], harm];
        assert_eq!(one(&alone, Category::SelfHarm), Some(0.75));
        assert_eq!(one(&alone, Category::Violence), Some(0.0));

        let blood = ("Blood & Gore", "Graphic Violence", 25.0);
        let both = [above[0], above[1], harm, blood];
        assert_eq!(one(&both, Category::Violence), Some(0.25));

        // Nothing but a branch is told, or it is more certain than self-harm is.
        assert_eq!(one(&above, Category::Violence), Some(0.75));
        let unsure = ("Self-Harm", "Graphic Violence", 50.0);
        let more = [above[0], above[1], unsure];
        assert_eq!(one(&more, Category::Violence), Some(0.75));
    }

    #[test]
    fn another_taxonomy_and_everything_that_is_no_answer_is_malformed() {
        for body in [
            "{}",
            "<html>",
            r#"{"ModerationLabels":[],"ModerationModelVersion":"6.1"}"#,
            r#"{"ModerationLabels":[]}"#,
            r#"{"ModerationLabels":[{"Name":"Explicit"}],"ModerationModelVersion":"7.0"}"#,
            r#"{"ModerationLabels":[{"Name":"Explicit","Confidence":101}],"ModerationModelVersion":"7.0"}"#,
        ] {
            assert!(
                read(body.as_bytes(), Rekognition::CATEGORIES).is_err(),
                "{body}"
            );
        }
        // Parents that go in a circle end.
        assert!(read_labels(&[("A", "B", 1.0), ("B", "A", 1.0)]).is_ok());
    }

    #[test]
    fn of_a_label_that_is_there_twice_the_higher_confidence_counts() {
        let twice = [("Violence", "", 97.0), ("Violence", "", 1.0)];
        assert_eq!(one(&twice, Category::Violence), Some(0.97));
    }
}
