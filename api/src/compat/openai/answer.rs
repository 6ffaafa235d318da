//! The answer.

use std::collections::BTreeMap;

use domain::{media::Status, score::Category};
use serde::Serialize;
use uuid::Uuid;

use super::{
    super::judged::{Item, Judged},
    request::Modalities,
};

/// From this score on, a category is true.
const TRUE_FROM: f64 = 0.5;

/// Their categories whose format has no images: answers about them name texts only.
const OF_TEXTS: [&str; 7] = [
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "sexual/minors",
];

/// Their categories, and ours with the same meaning. What only they tell apart has no category of ours: it is never scored, and its
/// list of input types is empty.
const CATEGORIES: [(&str, Option<Category>); 13] = [
    ("harassment", Some(Category::Harassment)),
    ("harassment/threatening", None),
    ("hate", Some(Category::Hate)),
    ("hate/threatening", None),
    ("illicit", Some(Category::Illicit)),
    ("illicit/violent", None),
    ("self-harm", Some(Category::SelfHarm)),
    ("self-harm/intent", None),
    ("self-harm/instructions", None),
    ("sexual", Some(Category::Adult)),
    ("sexual/minors", Some(Category::SexualMinors)),
    ("violence", Some(Category::Violence)),
    ("violence/graphic", None),
];

/// The whole answer.
#[derive(Debug, Serialize)]
pub(super) struct Moderation {
    id: String,
    model: String,
    results: Vec<Outcome>,
}

impl Moderation {
    pub(super) fn new(model: Option<String>, results: Vec<Outcome>) -> Self {
        Self {
            id: format!("modr-{}", Uuid::now_v7().simple()),
            model: model.unwrap_or_else(|| "gatehouse".to_owned()),
            results,
        }
    }
}

/// One result.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    flagged: bool,
    categories: BTreeMap<&'static str, bool>,
    category_scores: BTreeMap<&'static str, f64>,
    category_applied_input_types: BTreeMap<&'static str, Vec<&'static str>>,
    /// What only we say.
    gatehouse: Item,
}

impl Outcome {
    /// The result of an item that has a verdict.
    pub(super) fn of(judged: &Judged, input: Modalities) -> Self {
        let types: Vec<&'static str> = [("text", input.text), ("image", input.image)]
            .into_iter()
            .filter_map(|(name, is)| is.then_some(name))
            .collect();
        let mut outcome = Self {
            flagged: judged.verdict.status == Status::Rejected,
            categories: BTreeMap::new(),
            category_scores: BTreeMap::new(),
            category_applied_input_types: BTreeMap::new(),
            gatehouse: Item::from(judged),
        };
        for (name, ours) in CATEGORIES {
            let score = ours.and_then(|ours| judged.score(ours));
            let is_true = score.is_some_and(|score| score >= TRUE_FROM);
            outcome.flagged |= is_true;
            outcome.categories.insert(name, is_true);
            outcome.category_scores.insert(name, score.unwrap_or(0.0));
            let of_images = !OF_TEXTS.contains(&name);
            let mut types = types.clone();
            types.retain(|kind| score.is_some() && (of_images || *kind == "text"));
            outcome.category_applied_input_types.insert(name, types);
        }
        outcome
    }
}
