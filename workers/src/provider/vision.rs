//! Google Cloud Vision's `SafeSearch`, `POST {base}/v1/images:annotate`.
//!
//! Source: Google's published description of the API. It answers with likelihoods in words.
//! `UNKNOWN`, which proto3 leaves out of JSON, is not a score. An error about an image has status
//! 200, and is in the answer to that image.

#[cfg(test)]
mod tests;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use picture::Limits;
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    remote::Remote,
    transport::{Meaning, Transport, parsed, told},
};

/// The images that it takes. A request may have 10 MB of JSON, in which an image is larger by a
/// third.
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
    transport: Transport,
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

/// The categories that we use. `spoof`, `medical` and `racy` have no category of ours.
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
    /// The meaning of a `google.rpc.Code`.
    const fn meaning(&self) -> Meaning {
        match self.code {
            // RESOURCE_EXHAUSTED
            8 => Meaning::Limited,
            // CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, ABORTED, INTERNAL, UNAVAILABLE, DATA_LOSS, or
            // no code.
            0 | 1 | 2 | 4 | 10 | 13 | 14 | 15 => Meaning::Failed,
            // PERMISSION_DENIED, UNAUTHENTICATED.
            7 | 16 => Meaning::Denied,
            _ => Meaning::Refused,
        }
    }
}

impl Vision {
    /// The categories that it can score in images.
    pub const CATEGORIES: &[Category] = &[Category::Adult, Category::Violence];
    /// Its URL.
    pub const URL: &str = "https://vision.googleapis.com";
    /// The header that has the key.
    pub const KEY_HEADER: &str = "x-goog-api-key";

    /// The service at `remote`, whose URL is the base.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        Ok(Self {
            transport: Transport::new(remote, "vision")?.with_images(LIMITS),
        })
    }
}

impl RemoteProvider for Vision {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Content::Image(image) = question.content else {
            return Ok(Answer::default());
        };
        let request = json!({ "requests": [{
            "image": { "content": STANDARD.encode(&image.bytes) },
            "features": [{ "type": "SAFE_SEARCH_DETECTION" }],
        }] });
        let url = self.transport.at("/v1/images:annotate");
        let received = self.transport.post(url, &request).await?;
        received.answer(|body| read(body, &self.transport.profile().scope.image))
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
