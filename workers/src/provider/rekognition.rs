//! AWS Rekognition's `DetectModerationLabels`.
//!
//! Source: the operation as the official SDK's crate `aws-sdk-rekognition` sends and reads it, and the published taxonomy, version
//! 7. Labels form a tree, which an answer tells by the parent of each. With a `MinConfidence` of 0, what the taxonomy covers and no
//! label tells of is 0.

mod labels;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{image::ImageFormat, score::Category};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::json;

use super::{
    Answer, AwsAccess, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    aws::{Signer, explain},
    wire::{Remote, Wire},
};
use crate::picture::Limits;

/// What it takes.
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
    wire: Wire,
    signer: Signer,
}

impl Rekognition {
    /// What it can score, of images.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];

    /// Where it is in a region of AWS's; in China it has other names.
    pub fn url(region: &str) -> String {
        format!("https://rekognition.{region}.amazonaws.com")
    }

    /// The service at `remote`, whose own `auth` is of no use here, in this region, for who has this access.
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
        let wire = Wire::new(remote, "rekognition")?;
        Ok(Self {
            wire: wire.with_images(LIMITS).with_explanations(explain),
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
        let url = self.wire.at("/");
        let received = self.signer.post(&self.wire, &url, &HEADERS, body).await?;
        let scores = labels::read(&received.body, &self.profile().scope.image)?;
        Ok(received.answer(scores))
    }
}

impl Provider for Rekognition {
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
    use std::time::{Duration, SystemTime};

    use url::Url;

    use super::*;
    use crate::provider::{AwsKey, wire::client};

    /// The signature is what botocore 1.44.5, AWS's own for Python, makes of the same request at the same time.
    #[test]
    fn a_request_is_signed_as_the_official_sdk_signs_it() {
        let url: Url = Rekognition::url("eu-west-1").parse().unwrap();
        let key = AwsKey {
            id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: None,
        };
        assert!(!format!("{key:?}").contains("wJalr"));
        let credentials = key.credentials();
        let access = AwsAccess::Key(key);
        let signer = Signer::new(access, "rekognition", "eu-west-1".into(), None).unwrap();
        let noon = SystemTime::UNIX_EPOCH + Duration::from_hours(491_628);
        let request = client(Duration::ZERO, None).unwrap().post(url.clone());
        let request = signer.sign(
            &credentials,
            request,
            &url,
            &HEADERS,
            br#"{"MinConfidence":0}"#,
            noon,
        );
        let headers = request.build().unwrap().headers().clone();
        assert_eq!(headers["x-amz-date"], "20260131T120000Z");
        assert_eq!(
            headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260131/eu-west-1/rekognition/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date;x-amz-target, \
             Signature=c3eea4ba4825c16c46e0374c22e4a452f38608acb18c65b1b4381b6b75646a4e"
        );
    }
}
