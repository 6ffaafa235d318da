//! Perspective's format of requests and answers (`comments:analyze`). Our compatible endpoint speaks the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::sample::Scores;

/// The attributes that are asked for in any case: those that Perspective describes as ready for production.
pub(super) const ATTRIBUTES: [&str; 6] = [
    "TOXICITY",
    "SEVERE_TOXICITY",
    "IDENTITY_ATTACK",
    "INSULT",
    "PROFANITY",
    "THREAT",
];

/// What one service is asked for.
#[derive(Debug)]
pub(super) struct Asked {
    languages: Vec<String>,
    /// Attributes that are scored for no text are removed.
    attributes: Mutex<BTreeSet<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Can be missing if there are none.
    attribute_scores: Option<BTreeMap<String, Attribute>>,
    languages: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attribute {
    summary_score: Summary,
}

#[derive(Deserialize)]
struct Summary {
    value: f64,
}

impl Asked {
    /// Texts in these languages. None: the service finds out the language of each.
    pub(super) fn new(languages: Vec<String>, attributes: BTreeSet<String>) -> Self {
        Self {
            languages,
            attributes: Mutex::new(attributes),
        }
    }

    /// The attributes that the service may score.
    pub(super) fn attributes(&self) -> BTreeSet<String> {
        self.locked().clone()
    }

    /// From now on, this attribute is not asked for.
    pub(super) fn forget(&self, attribute: &str) {
        self.locked().remove(attribute);
    }

    /// A request that the service must not keep the text of.
    pub(super) fn request(&self, attributes: &BTreeSet<String>, text: &str) -> Value {
        let attributes = attributes.iter().map(|name| (name.clone(), json!({})));
        let attributes: Map<String, Value> = attributes.collect();
        let mut request = json!({
            "comment": { "text": text },
            "requestedAttributes": attributes,
            "doNotStore": true,
        });
        if !self.languages.is_empty() {
            request["languages"] = json!(self.languages);
        }
        request
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.attributes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scores of an answer. `None` if it is none.
pub(super) fn scores(body: &[u8]) -> Option<Scores> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    if answer.attribute_scores.is_none() && answer.languages.is_none() {
        return None;
    }
    let scores = answer.attribute_scores.unwrap_or_default().into_iter();
    Some(
        scores
            .map(|(name, score)| (name, score.summary_score.value))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_forbids_to_keep_the_text() {
        let attributes = BTreeSet::from(["THREAT".to_owned(), "TOXICITY".to_owned()]);
        let asked = Asked::new(vec!["en".to_owned()], attributes);
        asked.forget("THREAT");
        assert_eq!(
            asked.request(&asked.attributes(), "hello"),
            json!({
                "comment": { "text": "hello" },
                "requestedAttributes": { "TOXICITY": {} },
                "doNotStore": true,
                "languages": ["en"],
            })
        );
        let asked = Asked::new(Vec::new(), BTreeSet::new());
        let request = asked.request(&asked.attributes(), "hello");
        assert_eq!(request.get("languages"), None, "it finds out the language");
    }

    #[test]
    fn an_answer_can_lack_scores_but_not_be_something_else() {
        let answer = json!({
            "attributeScores": { "THREAT": { "summaryScore": { "value": 0.25, "type": "PROBABILITY" } } },
            "languages": ["en"],
        });
        let found = scores(answer.to_string().as_bytes()).unwrap();
        assert_eq!(found, Scores::from([("THREAT".to_owned(), 0.25)]));
        assert_eq!(scores(br#"{"languages":["en"]}"#), Some(Scores::new()));
        assert_eq!(scores(b"{}"), None);
        assert_eq!(scores(b"<html>"), None);
    }
}
