//! Answers of providers: a limited number of bytes, read as JSON and scores.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use domain::score::Scores;
use reqwest::Response;
use serde::de::DeserializeOwned;

use crate::provider::{Answer, ProviderError};

/// The most bytes of an answer that are kept with the item.
pub(crate) const MAX_KEPT: usize = 64 << 10;

/// An answer.
pub(crate) struct Received {
    pub(crate) body: Bytes,
    /// This answer used up the provider's limit for this time.
    pub(crate) spent: Option<Duration>,
}

impl Received {
    /// The answer to a question that was one request.
    pub(crate) fn answer(self, scores: Scores) -> Answer {
        Answer {
            scores,
            raw: Some(kept(&self.body)),
            spent: self.spent,
        }
    }
}

pub(super) fn unreachable(error: reqwest::Error) -> ProviderError {
    if error.is_timeout() {
        ProviderError::TimedOut
    } else {
        ProviderError::Unreachable(error.without_url())
    }
}

/// Reads a body of at most `most` bytes.
pub(crate) async fn read(mut answer: Response, most: usize) -> Result<Bytes, ProviderError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > most {
            return Err(ProviderError::Malformed("more than anybody reads"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// An answer's JSON.
pub(crate) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, ProviderError> {
    // serde's message may quote the answer, which may quote the content.
    serde_json::from_slice(body).map_err(|_| ProviderError::Malformed("not the documented JSON"))
}

/// Checks that a number is a score.
pub(crate) fn score(number: f64) -> Result<f64, ProviderError> {
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(ProviderError::Malformed("a score is not from 0 to 1"))
    }
}

/// The beginning of an answer, at most [`MAX_KEPT`] bytes.
fn kept(body: &[u8]) -> String {
    let kept = &body[..body.len().min(MAX_KEPT)];
    String::from_utf8_lossy(kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_as_they_are_and_bounded() {
        assert_eq!(kept(br#"{"a":  1}"#), r#"{"a":  1}"#);
        // Cut within a character.
        let long = kept(format!("x{}", "ü".repeat(MAX_KEPT)).as_bytes());
        assert!(long.len() <= MAX_KEPT + 3 && long.ends_with("ü\u{fffd}"));
    }
}
