//! OpenAI's moderation endpoint, `POST {base}/v1/moderations`.
//!
//! Source: OpenAI's published API reference, "Moderations". All pieces of a long text go in one request.

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use futures::{FutureExt as _, future::BoxFuture};
use serde::{Deserialize, Serialize};

use super::{
    Access, Answer, Provider, ProviderError, Question, chunks,
    wire::{Remote, Wire, kept},
};

/// The moderation endpoint and our key to it.
pub struct OpenAi {
    wire: Wire,
    model: String,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
}

#[derive(Deserialize)]
struct Response {
    results: Vec<Judgement>,
}

#[derive(Deserialize)]
struct Judgement {
    category_scores: BTreeMap<String, Option<f64>>,
}

impl OpenAi {
    /// What it can score.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
        Category::Harassment,
        Category::SexualMinors,
        Category::Illicit,
    ];
    /// Where it is.
    pub const URL: &str = "https://api.openai.com";
    /// Its model, unless another is named.
    pub const MODEL: &str = "omni-moderation-latest";
    /// Bytes of text in one input.
    pub const PIECE_BYTES: usize = 8_000;

    /// The endpoint at `remote`, whose URL is the base: `https://api.openai.com`, or a compatible server.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(mut remote: Remote, model: String) -> Result<Self, ProviderError> {
        let base = remote.url.path().trim_end_matches('/');
        let path = format!("{base}/v1/moderations");
        remote.url.set_path(&path);
        Ok(Self {
            wire: Wire::new(remote)?,
            model,
        })
    }

    async fn ask(&self, text: &str) -> Result<Answer, ProviderError> {
        let input = self.wire.pieces(text);
        let asked = input.len();
        let request = Request {
            model: &self.model,
            input,
        };
        let received = self.wire.post(&request).await?;
        Ok(Answer {
            scores: read(&received.body, asked, self.wire.categories())?,
            raw: Some(kept(&[received.body])),
            spent: received.spent,
        })
    }
}

/// Reads an answer to `asked` inputs. Half an answer is no answer.
fn read(body: &[u8], asked: usize, categories: &[Category]) -> Result<Scores, ProviderError> {
    // serde's message may quote the answer, which may quote the text.
    let response: Response = serde_json::from_slice(body)
        .map_err(|_| ProviderError::Malformed("not the documented JSON"))?;
    if response.results.len() != asked {
        return Err(ProviderError::Malformed("not one result for each input"));
    }
    let pieces: Result<Vec<Scores>, ProviderError> = response
        .results
        .iter()
        .map(|judgement| scores(judgement, categories))
        .collect();
    chunks::merge(&pieces?)
}

/// The maximum over their categories for each of ours. Theirs must all be there; where they are null, ours is absent.
fn scores(judgement: &Judgement, categories: &[Category]) -> Result<Scores, ProviderError> {
    let mut scores = Scores::default();
    for category in categories {
        let theirs: Option<Vec<Option<f64>>> = names(*category)
            .iter()
            .map(|name| judgement.category_scores.get(*name).copied())
            .collect();
        let theirs = theirs.ok_or(ProviderError::Malformed("a category is missing"))?;
        let known: Vec<f64> = theirs.iter().copied().flatten().collect();
        if known.iter().any(|score| !(0.0..=1.0).contains(score)) {
            return Err(ProviderError::Malformed("a score is not from 0 to 1"));
        }
        match known.iter().copied().reduce(f64::max) {
            Some(score) if known.len() == theirs.len() => scores.set(*category, score),
            Some(_) => return Err(ProviderError::Malformed("half a category is scored")),
            None => {}
        }
    }
    Ok(scores)
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

impl Provider for OpenAi {
    fn name(&self) -> &str {
        self.wire.name()
    }

    fn kind(&self) -> &'static str {
        "openai"
    }

    fn categories(&self) -> &[Category] {
        self.wire.categories()
    }

    fn access(&self) -> Option<&Access> {
        Some(self.wire.access())
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question.text).boxed()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn result() -> Value {
        json!({
            "sexual": 0.1, "sexual/minors": 0.4, "violence": 0.2, "violence/graphic": 0.7, "hate": 0.1,
            "hate/threatening": 0.2, "harassment": 0, "harassment/threatening": 0, "self-harm": 0,
            "self-harm/intent": 0, "self-harm/instructions": 0.3, "illicit": null, "illicit/violent": null, "new": 0.9,
        })
    }

    fn answer(results: &[Value]) -> Vec<u8> {
        let results: Vec<_> = results
            .iter()
            .map(|scores| json!({"flagged": true, "category_scores": scores}))
            .collect();
        serde_json::to_vec(&json!({"id": "m", "model": "omni", "results": results})).unwrap()
    }

    #[test]
    fn categories_are_mapped_by_the_maximum_and_unknown_scores_are_absent() {
        let scores = read(&answer(&[result()]), 1, OpenAi::CATEGORIES).unwrap();
        assert_eq!(scores.get(Category::Adult), Some(0.4));
        assert_eq!(scores.get(Category::Violence), Some(0.7));
        assert_eq!(scores.get(Category::SelfHarm), Some(0.3));
        assert_eq!(scores.get(Category::Harassment), Some(0.0));
        assert_eq!(scores.get(Category::Illicit), None);
        assert_eq!(scores.get(Category::Spam), None);
    }

    #[test]
    fn only_what_is_to_be_scored_is() {
        let scores = read(&answer(&[result()]), 1, &[Category::Violence]).unwrap();
        assert_eq!(scores.iter().count(), 1);
    }

    #[test]
    fn half_an_answer_and_a_foreign_one_are_malformed() {
        let mut without = result();
        without.as_object_mut().unwrap().remove("violence/graphic");
        let mut beyond = result();
        beyond["hate"] = json!(1.5);
        let mut null = result();
        null["illicit"] = json!(0.5);
        for (body, asked) in [
            (answer(&[]), 1),
            (answer(&[result()]), 2),
            (answer(&[without]), 1),
            (answer(&[beyond]), 1),
            (answer(&[result(), null]), 2),
            (answer(&[json!({"gore": 1})]), 1),
            (b"{}".to_vec(), 1),
            (b"<html>".to_vec(), 1),
        ] {
            let read = read(&body, asked, OpenAi::CATEGORIES);
            assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
        }
    }
}
