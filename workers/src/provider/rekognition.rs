//! AWS Rekognition's `DetectModerationLabels`.
//!
//! Source: the operation as the official SDK's crate `aws-sdk-rekognition` sends and reads it, and
//! the published taxonomy, version 7. Labels form a tree: an answer has the parent of each label.
//! With a `MinConfidence` of 0, categories of the taxonomy without a label are 0.

mod labels;
#[cfg(test)]
mod tests;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{image::ImageFormat, score::Category};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::json;

use super::{
    Answer, AwsAccess, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    aws::{Signer, explain},
    remote::Remote,
    transport::Transport,
};
use crate::picture::Limits;

/// The images that it takes.
const LIMITS: Limits = Limits {
    bytes: 5_000_000,
    min_side: 80,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

const HEADERS: [(&str, &str); 2] = [
    ("content-type", "application/x-amz-json-1.1"),
    ("x-amz-target", "RekognitionService.DetectModerationLabels"),
];

/// The service in a region, and our key to it.
pub struct Rekognition {
    transport: Transport,
    signer: Signer,
}

impl Rekognition {
    /// The categories that it can score in images.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];

    /// Its URL in a region of AWS. In China, the names are different.
    pub fn url(region: &str) -> String {
        format!("https://rekognition.{region}.amazonaws.com")
    }

    /// The service at `remote` in this region, with this access. The `auth` of `remote` is ignored.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        mut remote: Remote,
        region: String,
        access: AwsAccess,
    ) -> Result<Self, ProviderError> {
        remote.auth = access.auth();
        let signer = Signer::new(access, "rekognition", region, remote.proxy.as_ref())?;
        let transport = Transport::new(remote, "rekognition")?;
        Ok(Self {
            transport: transport.with_images(LIMITS).with_explanations(explain),
            signer,
        })
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Content::Image(image) = question.content else {
            return Ok(Answer::default());
        };
        let request = json!({
            "Image": { "Bytes": STANDARD.encode(&image.bytes) },
            "MinConfidence": 0,
        });
        let body = serde_json::to_vec(&request).expect("what we send is JSON");
        let url = self.transport.at("/");
        let received = self
            .signer
            .post(&self.transport, &url, &HEADERS, body)
            .await?;
        let scores = labels::read(&received.body, &self.profile().scope.image)?;
        Ok(received.answer(scores))
    }
}

impl Provider for Rekognition {
    fn profile(&self) -> &Profile {
        self.transport.profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question).boxed()
    }
}
