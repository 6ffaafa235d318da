//! Google Cloud Vision's `SafeSearch`, `POST {base}/v1/images:annotate`.
//!
//! Source: Google's published description of the API. It answers with likelihoods in words. `UNKNOWN`, which proto3 leaves out of
//! JSON, is no score. An error with an image comes with status 200, within the answer to that image.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    wire::{Meaning, Remote, Wire, parsed, told},
};
use crate::picture::Limits;

/// What it takes: JSON of 10 MB, in which an image is a third larger than it is.
const LIMITS: Limits = Limits {
    bytes: 7_000_000,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[
        ImageFormat::Jpeg,
        ImageFormat::Png,
        ImageFormat::Gif,
        ImageFormat::Webp,
    ],
};

/// The service, and our key to it.
pub struct Vision {
    wire: Wire,
}

#[derive(Deserialize)]
struct Response {
    responses: Vec<Annotated>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotated {
    #[serde(default)]
    safe_search_annotation: Option<SafeSearch>,
    #[serde(default)]
    error: Option<Status>,
}

/// What we use of it. Theirs are `spoof`, `medical` and `racy`, too, which are no categories of ours.
#[derive(Deserialize)]
struct SafeSearch {
    #[serde(default)]
    adult: Likelihood,
    #[serde(default)]
    violence: Likelihood,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Likelihood {
    #[default]
    Unknown,
    VeryUnlikely,
    Unlikely,
    Possible,
    Likely,
    VeryLikely,
}

impl Likelihood {
    const fn score(self) -> Option<f64> {
        match self {
            Self::Unknown => None,
            Self::VeryUnlikely => Some(0.0),
            Self::Unlikely => Some(0.25),
            Self::Possible => Some(0.5),
            Self::Likely => Some(0.75),
            Self::VeryLikely => Some(1.0),
        }
    }
}

/// `google.rpc.Status`.
#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    code: i32,
}

impl Status {
    /// What a `google.rpc.Code` says.
    const fn meaning(&self) -> Meaning {
        match self.code {
            // RESOURCE_EXHAUSTED
            8 => Meaning::Limited,
            // CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, ABORTED, INTERNAL, UNAVAILABLE, DATA_LOSS; and none at all.
            0 | 1 | 2 | 4 | 10 | 13 | 14 | 15 => Meaning::Failed,
            // PERMISSION_DENIED, UNAUTHENTICATED.
            7 | 16 => Meaning::Denied,
            _ => Meaning::Refused,
        }
    }
}

impl Vision {
    /// What it can score, of images.
    pub const CATEGORIES: &[Category] = &[Category::Adult, Category::Violence];
    /// Where it is.
    pub const URL: &str = "https://vision.googleapis.com";
    /// The header that has the key.
    pub const KEY_HEADER: &str = "x-goog-api-key";

    /// The service at `remote`, whose URL is the base.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        Ok(Self {
            wire: Wire::new(remote, "vision")?.with_images(LIMITS),
        })
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Content::Image(image) = question.content else {
            return Ok(Answer::default());
        };
        let request = json!({ "requests": [{
            "image": { "content": STANDARD.encode(&image.bytes) },
            "features": [{ "type": "SAFE_SEARCH_DETECTION" }],
        }] });
        let url = self.wire.at("/v1/images:annotate");
        let received = self.wire.post(url, &request).await?;
        let scores = read(&received.body, &self.profile().scope.image)?;
        Ok(received.answer(scores))
    }
}

fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    let [annotated]: [Annotated; 1] = response
        .responses
        .try_into()
        .map_err(|_| ProviderError::Malformed("not one answer"))?;
    if let Some(error) = annotated.error {
        return Err(error.meaning().error(told(&error.code.to_string()), None));
    }
    let found = annotated
        .safe_search_annotation
        .ok_or(ProviderError::Malformed("no annotation"))?;
    let scores = [
        (Category::Adult, found.adult),
        (Category::Violence, found.violence),
    ];
    Ok(scores
        .into_iter()
        .filter(|(category, _)| categories.contains(category))
        .filter_map(|(category, likelihood)| Some((category, likelihood.score()?)))
        .collect())
}

impl Provider for Vision {
    fn profile(&self) -> &Profile {
        self.wire.profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(annotated: &serde_json::Value) -> Result<Scores, ProviderError> {
        let body = serde_json::to_vec(&json!({ "responses": [annotated] })).unwrap();
        read(&body, Vision::CATEGORIES)
    }

    #[test]
    fn likelihoods_are_quarters_and_an_unknown_one_is_absent() {
        for (adult, violence, expected) in [
            (
                json!("VERY_UNLIKELY"),
                json!("VERY_LIKELY"),
                [Some(0.0), Some(1.0)],
            ),
            (json!("UNLIKELY"), json!("LIKELY"), [Some(0.25), Some(0.75)]),
            (json!("POSSIBLE"), json!("UNKNOWN"), [Some(0.5), None]),
        ] {
            let found = json!({ "adult": adult, "violence": violence, "racy": "VERY_LIKELY" });
            let scores = read_one(&json!({ "safeSearchAnnotation": found })).unwrap();
            let found = Vision::CATEGORIES.iter().map(|c| scores.get(*c));
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        let unsaid = read_one(&json!({ "safeSearchAnnotation": { "adult": "LIKELY" } })).unwrap();
        assert_eq!(unsaid.get(Category::Violence), None);
    }

    #[test]
    fn an_error_within_an_answer_is_one() {
        let told = |code| read_one(&json!({ "error": { "code": code, "message": "m" } }));
        assert!(matches!(told(8), Err(ProviderError::Limited { .. })));
        assert!(matches!(told(14), Err(ProviderError::Failed(_))));
        assert!(matches!(told(3), Err(ProviderError::Refused(_))));
        let both =
            json!({ "error": { "code": 3 }, "safeSearchAnnotation": { "adult": "UNLIKELY" } });
        assert!(read_one(&both).is_err());
    }

    #[test]
    fn everything_else_is_malformed() {
        for annotated in [
            json!({}),
            json!(null),
            json!({ "safeSearchAnnotation": null }),
            json!({ "safeSearchAnnotation": { "adult": "SURELY" } }),
            json!({ "safeSearchAnnotation": { "adult": 5 } }),
        ] {
            assert!(read_one(&annotated).is_err(), "{annotated}");
        }
        for body in ["{}", r#"{"responses":[]}"#, "<html>"] {
            assert!(read(body.as_bytes(), Vision::CATEGORIES).is_err(), "{body}");
        }
    }
}
