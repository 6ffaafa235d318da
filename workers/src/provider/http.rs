//! Any service that speaks our own small schema: `POST {url}` with `{"text", "categories"}`, answered by `{"scores"}`. It is
//! described in `docs/providers.md`.

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use futures::{FutureExt as _, future::BoxFuture};
use serde::{Deserialize, Serialize};

use super::{
    Access, Answer, Provider, ProviderError, Question,
    wire::{Remote, Said, Wire, together},
};

/// A service of the operator's.
pub struct Http {
    wire: Wire,
}

#[derive(Serialize)]
struct Request<'a> {
    text: &'a str,
    categories: &'a [Category],
}

#[derive(Deserialize)]
struct Response {
    scores: BTreeMap<Category, Option<f64>>,
}

impl Http {
    /// Bytes of text in one request, unless less is asked for: every text whole.
    pub const PIECE_BYTES: usize = 102_400;

    /// The service at `remote`, whose URL is posted to as it is.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        Ok(Self {
            wire: Wire::new(remote)?,
        })
    }

    async fn ask(&self, text: &str, categories: &[Category]) -> Result<Said, ProviderError> {
        let received = self.wire.post(&Request { text, categories }).await?;
        Ok(Said {
            scores: read(&received.body, categories)?,
            body: received.body,
            spent: received.spent,
        })
    }
}

/// Reads a score, or an express null, for each category, neither more nor less.
fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = serde_json::from_slice(body)
        .map_err(|_| ProviderError::Malformed("not the documented JSON"))?;
    let answer = response.scores;
    let asked = categories
        .iter()
        .all(|category| answer.contains_key(category));
    if !asked || answer.len() != categories.len() {
        return Err(ProviderError::Malformed(
            "not the categories that were asked for",
        ));
    }
    let scored = answer.into_iter();
    let scored: Vec<_> = scored
        .filter_map(|(category, score)| Some((category, score?)))
        .collect();
    if scored.iter().any(|(_, score)| !(0.0..=1.0).contains(score)) {
        return Err(ProviderError::Malformed("a score is not from 0 to 1"));
    }
    Ok(scored.into_iter().collect())
}

impl Provider for Http {
    fn name(&self) -> &str {
        self.wire.name()
    }

    fn kind(&self) -> &'static str {
        "http"
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
        let pieces = self.wire.pieces(question.text).into_iter();
        let asking = pieces.map(|piece| self.ask(piece, question.categories));
        together(asking.collect()).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &[Category] = &[Category::Hate, Category::Spam];

    #[test]
    fn a_null_is_no_score_and_everything_but_the_schema_is_malformed() {
        let scores = read(br#"{"scores":{"hate":0.5,"spam":null},"model":"x"}"#, ASKED).unwrap();
        assert_eq!(scores.iter().collect::<Vec<_>>(), [(Category::Hate, 0.5)]);
        for body in [
            "",
            "{}",
            "[]",
            r#"{"scores":{}}"#,
            r#"{"scores":{"hate":0.5}}"#,
            r#"{"scores":{"hate":0.5,"spam":"no"}}"#,
            r#"{"scores":{"hate":0.5,"spam":-0.1}}"#,
            r#"{"scores":{"hate":0.5,"spam":0,"adult":0}}"#,
            r#"{"scores":{"hate":0.5,"spam":0,"gore":0}}"#,
            r#"{"scores":{"hate":0.5,"spam":0"#,
        ] {
            assert!(read(body.as_bytes(), ASKED).is_err(), "{body}");
        }
    }
}
