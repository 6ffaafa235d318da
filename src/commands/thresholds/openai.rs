//! OpenAI's format of requests and answers. Our compatible endpoint speaks the same.

use serde::Deserialize;
use serde_json::{Value, json};

use std::collections::BTreeMap;

use super::sample::Scores;

/// OpenAI's current model. Gatehouse ignores the name.
pub(super) const MODEL: &str = "omni-moderation-latest";

#[derive(Deserialize)]
struct Answer {
    results: [Judged; 1],
}

#[derive(Deserialize)]
struct Judged {
    category_scores: BTreeMap<String, Option<f64>>,
    /// Older models have none.
    #[serde(default)]
    category_applied_input_types: BTreeMap<String, Vec<String>>,
}

pub(super) fn request(model: &str, text: &str) -> Value {
    json!({ "model": model, "input": [text] })
}

/// The scores of an answer. `None` if it is none. A category without input types was not checked, although it has the score 0.
pub(super) fn scores(body: &[u8]) -> Option<Scores> {
    let Answer { results: [judged] } = serde_json::from_slice(body).ok()?;
    let types = judged.category_applied_input_types;
    let is_checked = |name: &String| types.get(name).is_none_or(|types| !types.is_empty());
    let scores = judged.category_scores.into_iter();
    let scores = scores.filter(|(name, _)| is_checked(name));
    Some(
        scores
            .filter_map(|(name, score)| Some((name, score?)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_that_was_not_checked_has_no_score() {
        let answer = json!({ "results": [{
            "category_scores": { "hate": 0.25, "hate/threatening": 0.0, "illicit": null, "violence": 0.0 },
            "category_applied_input_types": { "hate": ["text"], "hate/threatening": [], "illicit": ["text"] },
        }]});
        let scores = scores(answer.to_string().as_bytes()).unwrap();
        let names: Vec<&String> = scores.keys().collect();
        assert_eq!(names, ["hate", "violence"]);
        assert!((scores["hate"] - 0.25).abs() < 1e-9);
    }

    #[test]
    fn an_answer_about_other_than_one_text_is_none() {
        for body in ["{}", r#"{"results":[]}"#, "<html>"] {
            assert!(scores(body.as_bytes()).is_none(), "{body}");
        }
    }
}
