//! The parts of a model's answer that are read.

use std::borrow::Cow;

use domain::score::{Category, Scores};
use serde::Deserialize;

use crate::provider::ProviderError;

/// The parts of an answer that we read.
#[derive(Deserialize)]
struct Response {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    pub(super) message: Message,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    #[serde(default)]
    pub(super) logprobs: Option<LogProbs>,
}

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) content: Option<Said>,
}

/// A model's message: a text, or parts (Mistral's reasoning models). Only parts that are texts
/// count.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Said {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
pub(super) struct Part {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct LogProbs {
    #[serde(default)]
    pub(super) content: Option<Vec<Token>>,
}

/// A token and the natural logarithm of its probability.
#[derive(Deserialize)]
pub(super) struct Token {
    pub(super) token: String,
    pub(super) logprob: f64,
}

/// The answer, if it is complete and the only one.
pub(super) fn read(body: &[u8]) -> Result<Choice, ProviderError> {
    // serde's message may quote the answer, which may quote the text.
    let response: Response = serde_json::from_slice(body)
        .map_err(|_| ProviderError::Malformed("not the documented JSON"))?;
    let [choice]: [Choice; 1] = response
        .choices
        .try_into()
        .map_err(|_| ProviderError::Malformed("not one choice"))?;
    match choice.finish_reason.as_deref() {
        None | Some("stop") => Ok(choice),
        Some(_) => Err(ProviderError::Malformed("the model did not finish")),
    }
}

impl Choice {
    pub(super) fn content(&self) -> Result<Cow<'_, str>, ProviderError> {
        match &self.message.content {
            Some(Said::Text(text)) => Ok(Cow::Borrowed(text)),
            Some(Said::Parts(parts)) => {
                let texts = parts.iter().filter(|part| part.kind == "text");
                Ok(texts.filter_map(|part| part.text.as_deref()).collect())
            }
            None => Err(ProviderError::Malformed("no content")),
        }
    }
}

/// Only these of the scores.
pub(super) fn only(scores: &Scores, categories: &[Category]) -> Scores {
    let scores = scores.iter();
    scores
        .filter(|(category, _)| categories.contains(category))
        .collect()
}
