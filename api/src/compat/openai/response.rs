//! The answer.

use std::collections::BTreeMap;

use domain::{media::Action, score::Category};
use serde::Serialize;
use uuid::Uuid;

use super::{
    super::submit_and_wait::{Item, Judged},
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

/// Their categories, and ours with the same meaning. What only they tell apart has no category of ours: it is never scored.
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

/// One result. A category that nobody scored is false, with a score of 0, because the SDKs need both. Its input types are empty,
/// and `gatehouse` names it.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    flagged: bool,
    categories: BTreeMap<&'static str, bool>,
    category_scores: BTreeMap<&'static str, f64>,
    category_applied_input_types: BTreeMap<&'static str, Vec<&'static str>>,
    gatehouse: Own,
}

/// What only we say.
#[derive(Debug, Serialize)]
struct Own {
    #[serde(flatten)]
    item: Item,
    /// Their categories that nobody scored.
    unchecked: Vec<&'static str>,
}

impl Outcome {
    /// The result of an item that has a verdict. It is flagged unless the site approved the item, and no category is true.
    pub(super) fn of(judged: &Judged, input: Modalities) -> Self {
        let is_approved = judged.verdict.status.action() == Some(Action::Approve);
        let mut outcome = Self {
            flagged: !is_approved,
            ..Self::with(Item::from(judged))
        };
        for (name, ours) in CATEGORIES {
            let score = ours.and_then(|ours| judged.score(ours));
            let is_true = score.is_some_and(|score| score >= TRUE_FROM);
            outcome.flagged |= is_true;
            outcome.categories.insert(name, is_true);
            outcome.category_scores.insert(name, score.unwrap_or(0.0));
            let mut types = Vec::new();
            if score.is_none() {
                outcome.gatehouse.unchecked.push(name);
            } else {
                types.extend(input.text.then_some("text"));
                types.extend((input.image && !OF_TEXTS.contains(&name)).then_some("image"));
            }
            outcome.category_applied_input_types.insert(name, types);
        }
        outcome
    }

    /// The result of an empty text: there is nothing to flag.
    pub(super) fn of_nothing() -> Self {
        let mut outcome = Self::with(Item {
            media_id: None,
            status: None,
            action: None,
            reason: Some("The text is empty: there is nothing to check.".to_owned()),
        });
        for (name, _) in CATEGORIES {
            outcome.categories.insert(name, false);
            outcome.category_scores.insert(name, 0.0);
            outcome
                .category_applied_input_types
                .insert(name, Vec::new());
        }
        outcome
    }

    fn with(item: Item) -> Self {
        Self {
            flagged: false,
            categories: BTreeMap::new(),
            category_scores: BTreeMap::new(),
            category_applied_input_types: BTreeMap::new(),
            gatehouse: Own {
                item,
                unchecked: Vec::new(),
            },
        }
    }
}

/// Whether nothing that was found flags this item, and something of it was not checked.
pub(super) fn is_undecided(judged: &Judged) -> bool {
    let mut scores = CATEGORIES
        .iter()
        .filter_map(|(_, ours)| judged.score((*ours)?));
    judged.is_unchecked() && !judged.violates() && !scores.any(|score| score >= TRUE_FROM)
}
