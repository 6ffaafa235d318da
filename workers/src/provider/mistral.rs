//! Mistral's moderation endpoint, `POST {base}/v1/moderations`.
//!
//! Source: Mistral's published description of the API and of its models. `mistral-moderation-2603`
//! distinguishes dangerous and criminal content, which the model before did not. Both are `illicit`
//! here.

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Content, ProviderError, Question, RemoteProvider,
    cost::TOKENS,
    remote::Remote,
    transport::{Transport, highest, parsed, unique_keys},
};

/// The moderation endpoint and our key to it.
pub struct Mistral {
    transport: Transport,
    model: String,
}

#[derive(Deserialize)]
struct Response {
    results: Vec<Judgement>,
}

#[derive(Deserialize)]
struct Judgement {
    #[serde(deserialize_with = "unique_keys")]
    category_scores: BTreeMap<String, f64>,
}

impl Mistral {
    /// The categories that it can score in texts.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
        Category::Illicit,
    ];
    /// Its URL.
    pub const URL: &str = "https://api.mistral.ai";
    /// The default model.
    pub const MODEL: &str = "mistral-moderation-latest";
    /// Bytes of text in one request, well within the model's 8,192 tokens.
    pub const PIECE_BYTES: usize = 8_000;

    /// The endpoint at `remote`, whose URL is the base.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote, model: String) -> Result<Self, ProviderError> {
        Ok(Self {
            transport: Transport::new(remote, "mistral")?
                .telling(TOKENS)
                .depending_on(&model),
            model,
        })
    }
}

impl RemoteProvider for Mistral {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Content::Text(text) = question.content else {
            return Ok(Answer::default());
        };
        let request = json!({ "model": self.model, "input": [text] });
        let url = self.transport.at("/v1/moderations");
        let received = self.transport.post(url, &request).await?;
        received.answer(|body| read(body, &self.transport.profile().scope.text))
    }
}

/// Reads the scores of these categories for one text.
fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    let [judgement] = response.results.as_slice() else {
        return Err(ProviderError::Malformed("not one result for one text"));
    };
    let told = &judgement.category_scores;
    categories
        .iter()
        .map(|category| {
            let named = names(*category)
                .iter()
                .find(|names| names.iter().all(|name| told.contains_key(*name)));
            let told_as = named.ok_or(ProviderError::Malformed("a category is missing"))?;
            let scores = told_as.iter().filter_map(|name| told.get(*name).copied());
            Ok((*category, highest(scores)?))
        })
        .collect()
}

/// Their categories for one of ours, for each model, the newest first.
const fn names(ours: Category) -> &'static [&'static [&'static str]] {
    match ours {
        Category::Adult => &[&["sexual"]],
        Category::Violence => &[&["violence_and_threats"]],
        Category::Hate => &[&["hate_and_discrimination"]],
        Category::SelfHarm => &[&["selfharm"]],
        Category::Illicit => &[
            &["dangerous", "criminal"],
            &["dangerous_and_criminal_content"],
        ],
        Category::Harassment | Category::SexualMinors | Category::Spam => &[],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answer(scores: &Value) -> Vec<u8> {
        let answer = json!({ "id": "m", "model": "m", "results": [{ "categories": {}, "category_scores": scores }] });
        serde_json::to_vec(&answer).unwrap()
    }

    #[test]
    fn both_models_are_read() {
        let mut scores = json!({
            "sexual": 0.5, "hate_and_discrimination": 0.25, "violence_and_threats": 0.125, "selfharm": 0.0, "health": 0.9,
            "dangerous": 0.0625, "criminal": 0.75, "jailbreaking": 0.9,
        });
        let expected = |illicit| {
            [
                (Category::Adult, 0.5),
                (Category::Violence, 0.125),
                (Category::Hate, 0.25),
                (Category::SelfHarm, 0.0),
                (Category::Illicit, illicit),
            ]
        };
        let new = read(&answer(&scores), Mistral::CATEGORIES).unwrap();
        assert_eq!(new.iter().collect::<Vec<_>>(), expected(0.75));
        let members = scores.as_object_mut().unwrap();
        members.remove("dangerous");
        members.remove("criminal");
        members.insert("dangerous_and_criminal_content".into(), json!(0.375));
        let old = read(&answer(&scores), Mistral::CATEGORIES).unwrap();
        assert_eq!(old.iter().collect::<Vec<_>>(), expected(0.375));
    }

    #[test]
    fn half_an_answer_is_malformed() {
        for scores in [
            json!({}),
            json!({ "sexual": null }),
            json!({ "sexual": 2 }),
            json!({ "dangerous": 0.5 }),
        ] {
            let categories = [Category::Adult, Category::Illicit];
            assert!(read(&answer(&scores), &categories).is_err(), "{scores}");
        }
        assert!(read(br#"{"results":[]}"#, &[Category::Adult]).is_err());
        assert!(read(b"<html>", &[Category::Adult]).is_err());
    }
}
