//! OpenAI's moderation endpoint, `POST {base}/v1/moderations`.
//!
//! Source: OpenAI's published API reference, "Moderations". Long texts go in pieces, and each category gets the maximum
//! over the pieces.

use std::{collections::BTreeMap, time::Duration};

use domain::score::{Category, Scores};
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::{Client, StatusCode, header::RETRY_AFTER, redirect};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{Provider, ProviderError};
use crate::tls;

const MODEL: &str = "omni-moderation-latest";
const DEADLINE: Duration = Duration::from_secs(20);
/// Bytes of text in one input; pieces overlap, so that nothing hides on a seam.
const PIECE: usize = 8_000;
const OVERLAP: usize = 400;
/// An answer has a few kilobytes for each piece.
const MAX_ANSWER: usize = 1 << 20;

/// The moderation endpoint and our key to it.
pub struct OpenAi {
    http: Client,
    endpoint: Url,
    key: String,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'static str,
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
    /// The operator chose `base` (`https://api.openai.com`, or a compatible server); it is not subject to the egress
    /// rules for tenants.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(base: &Url, key: String) -> Result<Self, ProviderError> {
        let http = Client::builder()
            .tls_backend_preconfigured(tls::client_config())
            .timeout(DEADLINE)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(ProviderError::Unreachable)?;
        let mut endpoint = base.clone();
        endpoint.set_path(&format!(
            "{}/v1/moderations",
            base.path().trim_end_matches('/')
        ));
        Ok(Self {
            http,
            endpoint,
            key,
        })
    }

    async fn ask(&self, text: &str) -> Result<Scores, ProviderError> {
        let input = pieces(text);
        let asked = input.len();
        let unreachable = |error: reqwest::Error| ProviderError::Unreachable(error.without_url());
        let mut answer = self
            .http
            .post(self.endpoint.clone())
            .bearer_auth(&self.key)
            .json(&Request {
                model: MODEL,
                input,
            })
            .send()
            .await
            .map_err(unreachable)?;
        if let Some(error) = refusal(&answer) {
            return Err(error);
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(ProviderError::Malformed("more than 1 MiB".into()));
            }
            body.extend_from_slice(&chunk);
        }
        read(&body, asked)
    }
}

fn refusal(answer: &reqwest::Response) -> Option<ProviderError> {
    let status = answer.status();
    if status.is_success() {
        return None;
    }
    let code = status.as_u16();
    Some(match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => ProviderError::Limited {
            status: code,
            retry_after: answer
                .headers()
                .get(RETRY_AFTER)
                .and_then(|value| value.to_str().ok()?.trim().parse().ok())
                .map(Duration::from_secs),
        },
        _ if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
            ProviderError::Failed(code)
        }
        _ => ProviderError::Refused(code),
    })
}

/// Reads an answer to `asked` inputs. Half an answer is no answer.
fn read(body: &[u8], asked: usize) -> Result<Scores, ProviderError> {
    let malformed = |what: &str| ProviderError::Malformed(what.to_owned());
    // serde's message may quote the answer, which may quote the text.
    let response: Response =
        serde_json::from_slice(body).map_err(|_| malformed("not the documented JSON"))?;
    if response.results.len() != asked {
        return Err(malformed("not one result for each input"));
    }
    let mut scores = Scores::default();
    for judgement in &response.results {
        let mut piece = Scores::default();
        for (theirs, score) in &judgement.category_scores {
            for ours in categories(theirs) {
                let known = piece.get(*ours).unwrap_or(0.0);
                if let Some(score) = score {
                    piece.set(*ours, score.max(known));
                }
            }
        }
        scores.merge_max(&piece);
    }
    if scores.is_empty() {
        return Err(malformed("no category that we know"));
    }
    Ok(scores)
}

/// Our categories for one of theirs.
fn categories(theirs: &str) -> &'static [Category] {
    match theirs {
        "sexual" => &[Category::Adult],
        "sexual/minors" => &[Category::Adult, Category::SexualMinors],
        "violence" | "violence/graphic" => &[Category::Violence],
        "hate" | "hate/threatening" => &[Category::Hate],
        "self-harm" | "self-harm/intent" | "self-harm/instructions" => &[Category::SelfHarm],
        "harassment" | "harassment/threatening" => &[Category::Harassment],
        "illicit" | "illicit/violent" => &[Category::Illicit],
        _ => &[],
    }
}

/// Cuts a text into overlapping pieces, at white space where there is some.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while text.len() - start > PIECE {
        let limit = text.floor_char_boundary(start + PIECE);
        let end = text[start..limit]
            .rfind(char::is_whitespace)
            .map(|at| start + at)
            .filter(|end| *end > start + PIECE / 2)
            .unwrap_or(limit);
        pieces.push(&text[start..end]);
        start = text.floor_char_boundary(end - OVERLAP);
    }
    pieces.push(&text[start..]);
    pieces
}

impl Provider for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn analyse<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Scores, ProviderError>> {
        self.ask(text).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_mapped_by_the_maximum_and_unknown_scores_are_absent() {
        let body = br#"{"id":"m","model":"omni","results":[{"flagged":true,"category_scores":
            {"sexual":0.1,"sexual/minors":0.4,"violence":0.2,"violence/graphic":0.7,"illicit":null,"new":0.9}}]}"#;
        let scores = read(body, 1).unwrap();
        assert_eq!(scores.get(Category::Adult), Some(0.4));
        assert_eq!(scores.get(Category::Violence), Some(0.7));
        assert_eq!(scores.get(Category::Illicit), None);
        assert_eq!(scores.get(Category::Hate), None);
    }

    #[test]
    fn half_an_answer_and_a_foreign_one_are_malformed() {
        for body in [
            &br#"{"results":[]}"#[..],
            br#"{"results":[{"category_scores":{"gore":1}}]}"#,
            b"{}",
            b"<html>",
        ] {
            assert!(matches!(read(body, 1), Err(ProviderError::Malformed(_))));
        }
    }

    #[test]
    fn pieces_overlap_and_cover_the_text() {
        let text = "wörd ".repeat(5_000);
        let pieces = pieces(&text);
        assert!(pieces.len() > 3);
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE));
        assert!(text.starts_with(pieces[0]) && text.ends_with(pieces[pieces.len() - 1]));
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        assert!(total >= text.len() + OVERLAP * (pieces.len() - 1));
        assert_eq!(super::pieces(&"x".repeat(20_000)).len(), 3);
    }
}
