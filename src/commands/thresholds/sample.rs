//! The sample: the texts of the file, and the scores that both services gave them.

use std::collections::{BTreeMap, BTreeSet};

use domain::lone_surrogates::JsonText;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::matching_threshold::Pair;

/// Scores of a text by category.
pub(super) type Scores = BTreeMap<String, f64>;

/// What a line has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// It has no text, for example only an image.
    NoText,
    /// It is not a JSON object.
    Invalid,
}

impl Content {
    /// Reads a line as `gatehouse submit` does. Only its text counts here.
    pub(super) fn of(line: &str) -> Self {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            body: Option<&'a RawValue>,
        }
        if !line.starts_with('{') {
            return Self::Invalid;
        }
        let Ok(Members { body }) = serde_json::from_str(line) else {
            return Self::Invalid;
        };
        let Some(body) = body else {
            return Self::NoText;
        };
        match JsonText::read(body) {
            Some(JsonText { text, .. }) if text.trim().is_empty() => Self::NoText,
            Some(JsonText { text, .. }) => Self::Text(text),
            None => Self::Invalid,
        }
    }
}

/// The scores of all texts so far.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// Texts that both services answered.
    pub(super) texts: u64,
    pub(super) categories: BTreeMap<String, Category>,
}

/// The scores of a category.
#[derive(Debug, Default)]
pub(super) struct Category {
    /// Of the texts that both scored.
    pub(super) pairs: Vec<Pair>,
    /// Of the texts that only they scored.
    pub(super) only_theirs: Vec<f64>,
    /// How many texts only we scored.
    pub(super) only_ours: u64,
}

impl Sample {
    pub(super) fn add(&mut self, theirs: &Scores, ours: &Scores) {
        self.texts += 1;
        let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        for name in names {
            if !self.categories.contains_key(name) {
                self.categories.insert(name.clone(), Category::default());
            }
            let Some(category) = self.categories.get_mut(name) else {
                continue;
            };
            match (theirs.get(name).copied(), ours.get(name).copied()) {
                (Some(theirs), Some(ours)) => category.pairs.push(Pair { theirs, ours }),
                (Some(theirs), None) => category.only_theirs.push(theirs),
                (None, _) => category.only_ours += 1,
            }
        }
    }
}

/// The lines that do not count, by the reason.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub(super) no_text: u64,
    pub(super) invalid: u64,
    /// By the code of the refusal.
    pub(super) refused_there: BTreeMap<String, u64>,
    pub(super) refused_here: BTreeMap<String, u64>,
}

impl Skipped {
    /// Whether there are lines with a mistake.
    pub(super) fn has_refusals(&self) -> bool {
        self.invalid > 0 || !self.refused_there.is_empty() || !self.refused_here.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_a_line_counts() {
        for (line, content) in [
            (
                r#"{"body":"hello","app_media_id":"1"}"#,
                Content::Text("hello".to_owned()),
            ),
            (
                r#"{"body":"see you \ud83d"}"#,
                Content::Text("see you \u{fffd}".to_owned()),
            ),
            (r#"{"body":" "}"#, Content::NoText),
            (r#"{"body":null}"#, Content::NoText),
            (
                r#"{"content_url":"https://example.com/a.png"}"#,
                Content::NoText,
            ),
            (r#"{"body":7}"#, Content::Invalid),
            ("[]", Content::Invalid),
            ("hello", Content::Invalid),
        ] {
            assert_eq!(Content::of(line), content, "{line}");
        }
    }

    #[test]
    fn a_category_without_a_score_is_no_category_with_the_score_0() {
        let scores = |scores: &[(&str, f64)]| -> Scores {
            scores
                .iter()
                .map(|(name, score)| ((*name).to_owned(), *score))
                .collect()
        };
        let mut sample = Sample::default();
        sample.add(
            &scores(&[("hate", 0.1), ("gore", 0.9)]),
            &scores(&[("hate", 0.2), ("spam", 0.3)]),
        );
        sample.add(&scores(&[("hate", 0.8)]), &Scores::new());
        assert_eq!(sample.texts, 2);
        let hate = &sample.categories["hate"];
        assert_eq!(
            (hate.pairs.len(), hate.only_theirs.len(), hate.only_ours),
            (1, 1, 0)
        );
        let gore = &sample.categories["gore"];
        assert_eq!(
            (gore.pairs.len(), gore.only_theirs.len(), gore.only_ours),
            (0, 1, 0)
        );
        let spam = &sample.categories["spam"];
        assert_eq!(
            (spam.pairs.len(), spam.only_theirs.len(), spam.only_ours),
            (0, 0, 1)
        );
    }
}
