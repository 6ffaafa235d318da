//! AWS Rekognition's `DetectModerationLabels`.
//!
//! Source: the operation as the official SDK's crate `aws-sdk-rekognition` sends and reads it, and the published taxonomy, version
//! 7. Requests are signed by AWS's own `aws-sigv4`. Labels form a tree, which an answer tells by the parent of each. With a
//! `MinConfidence` of 0, what the taxonomy covers and no label tells of is 0. Errors come with status 400 and a type, throttling
//! among them.

mod labels;

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{image::ImageFormat, score::Category};
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::{RequestBuilder, header::HeaderMap};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    wire::{Auth, Meaning, Remote, Wire, parsed},
};
use crate::picture::Limits;

/// What it takes.
const LIMITS: Limits = Limits {
    bytes: 5_000_000,
    min_side: 80,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

const TARGET: &str = "RekognitionService.DetectModerationLabels";
const CONTENT_TYPE: &str = "application/x-amz-json-1.1";

/// The service in a region, and our key to it.
pub struct Rekognition {
    wire: Wire,
    signer: Signer,
}

/// An access key of AWS's. The `Debug` form does not tell the secret.
#[derive(Clone)]
pub struct AwsKey {
    /// Its id.
    pub id: String,
    /// Its secret.
    pub secret: String,
}

impl std::fmt::Debug for AwsKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AwsKey({})", self.id)
    }
}

struct Signer {
    credentials: Credentials,
    region: String,
}

/// An error as it is told in a body. Its type may have a namespace before it, and a URL after it.
#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "__type", alias = "code")]
    kind: String,
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

    /// The service at `remote`, whose own `auth` is of no use here, in this region, for who has this key.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(mut remote: Remote, region: String, key: AwsKey) -> Result<Self, ProviderError> {
        let AwsKey { id, secret } = key;
        remote.auth = Auth::Own(format!("{id}:{secret}"));
        let wire = Wire::new(remote, "rekognition")?;
        Ok(Self {
            wire: wire.with_images(LIMITS).with_explanations(explain),
            signer: Signer {
                credentials: Credentials::new(id, secret, None, None, "gatehouse"),
                region,
            },
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
        let request = self.wire.request(url.clone());
        let request = self.signer.sign(request, &url, &body, SystemTime::now());
        let received = self.wire.send(request.body(body)).await?;
        let scores = labels::read(&received.body, &self.profile().scope.image)?;
        Ok(received.answer(scores))
    }
}

impl Signer {
    /// Adds the headers of the operation and the signature over them, the body and the time.
    fn sign(
        &self,
        request: RequestBuilder,
        url: &Url,
        body: &[u8],
        time: SystemTime,
    ) -> RequestBuilder {
        let headers = [("content-type", CONTENT_TYPE), ("x-amz-target", TARGET)];
        let identity = self.credentials.clone().into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("rekognition")
            .time(time)
            .settings(SigningSettings::default())
            .build()
            .expect("nothing is missing")
            .into();
        let signable = SignableRequest::new(
            "POST",
            url.as_str(),
            headers.into_iter(),
            SignableBody::Bytes(body),
        )
        .expect("a URL and ASCII headers can be signed");
        let signed = sign(signable, &params)
            .expect("a key can sign")
            .into_parts()
            .0;
        let request = headers.into_iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        signed.headers().fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }
}

/// What an error says: nearly all have status 400. The codes of throttling are those that the official SDKs know, and they are
/// looked for where these look: in a header, else in the body.
fn explain(headers: &HeaderMap, body: &[u8]) -> Option<Meaning> {
    let kind = match headers.get("x-amzn-errortype") {
        Some(kind) => kind.to_str().ok()?.to_owned(),
        None => parsed::<Failure>(body).ok()?.kind,
    };
    let kind = kind.split(':').next()?.split('#').next_back()?;
    match kind {
        "BandwidthLimitExceeded"
        | "LimitExceededException"
        | "PriorRequestNotComplete"
        | "ProvisionedThroughputExceededException"
        | "RequestLimitExceeded"
        | "RequestThrottled"
        | "RequestThrottledException"
        | "SlowDown"
        | "ThrottledException"
        | "Throttling"
        | "ThrottlingException"
        | "TooManyRequestsException" => Some(Meaning::Limited),
        "InternalServerError" | "InternalFailure" | "RequestTimeout" | "ServiceUnavailable" => {
            Some(Meaning::Failed)
        }
        "AccessDeniedException"
        | "ExpiredTokenException"
        | "IncompleteSignature"
        | "InvalidSignatureException"
        | "MissingAuthenticationTokenException"
        | "SubscriptionRequiredException"
        | "UnrecognizedClientException" => Some(Meaning::Denied),
        _ => None,
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

    use super::*;
    use crate::provider::wire::client;

    /// The signature is what botocore 1.44.5, AWS's own for Python, makes of the same request at the same time.
    #[test]
    fn a_request_is_signed_as_the_official_sdk_signs_it() {
        let url: Url = Rekognition::url("eu-west-1").parse().unwrap();
        let signer = Signer {
            credentials: Credentials::new(
                "AKIDEXAMPLE",
                "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                None,
                None,
                "test",
            ),
            region: "eu-west-1".into(),
        };
        let noon = SystemTime::UNIX_EPOCH + Duration::from_hours(491_628);
        let request = client(Duration::ZERO).unwrap().post(url.clone());
        let request = signer.sign(request, &url, br#"{"MinConfidence":0}"#, noon);
        let headers = request.build().unwrap().headers().clone();
        assert_eq!(headers["x-amz-date"], "20260131T120000Z");
        assert_eq!(
            headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260131/eu-west-1/rekognition/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date;x-amz-target, \
             Signature=c3eea4ba4825c16c46e0374c22e4a452f38608acb18c65b1b4381b6b75646a4e"
        );
        let key = AwsKey {
            id: "AKIDEXAMPLE".into(),
            secret: "wJalr".into(),
        };
        assert!(!format!("{key:?}").contains("wJalr"));
    }

    #[test]
    fn throttling_is_told_by_the_body_of_a_400() {
        let explained = |kind: &str| {
            let body = json!({ "__type": kind, "message": "m" });
            explain(&HeaderMap::new(), &serde_json::to_vec(&body).unwrap())
        };
        for kind in [
            "ThrottlingException",
            "ProvisionedThroughputExceededException",
            "com.amazonaws.rekognition#ThrottlingException",
            "ThrottlingException:http://internal.amazon.com/coral/#it",
        ] {
            assert_eq!(explained(kind), Some(Meaning::Limited), "{kind}");
        }
        assert_eq!(explained("InternalServerError"), Some(Meaning::Failed));
        assert_eq!(explained("ImageTooLargeException"), None);
        let mut headers = HeaderMap::new();
        assert_eq!(explain(&headers, b"<html>"), None);
        headers.insert("x-amzn-errortype", "ThrottlingException".parse().unwrap());
        assert_eq!(explain(&headers, b"{}"), Some(Meaning::Limited));
    }
}
