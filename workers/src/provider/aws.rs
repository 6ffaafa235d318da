//! What the services of AWS have in common: requests are signed by AWS's own `aws-sigv4`, and errors come with status 400 and a
//! type, throttling among them.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4,
};
use reqwest::{RequestBuilder, header::HeaderMap};
use serde::Deserialize;
use url::Url;

use super::wire::{Auth, Meaning, parsed};

/// An access key of AWS's. The `Debug` form does not tell the secret.
#[derive(Clone)]
pub struct AwsKey {
    /// Its id.
    pub id: String,
    /// Its secret.
    pub secret: String,
    /// The token of the session that it belongs to, if it is a temporary one.
    pub session_token: Option<String>,
}

impl std::fmt::Debug for AwsKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AwsKey({})", self.id)
    }
}

impl AwsKey {
    /// What tells this key from others; nothing of it is sent so.
    pub(super) fn auth(&self) -> Auth {
        Auth::Own(format!("{}:{}", self.id, self.secret))
    }
}

/// Signs requests to one service in one region.
pub(super) struct Signer {
    credentials: Credentials,
    service: &'static str,
    region: String,
}

impl Signer {
    pub(super) fn new(key: AwsKey, service: &'static str, region: String) -> Self {
        let AwsKey {
            id,
            secret,
            session_token,
        } = key;
        Self {
            credentials: Credentials::new(id, secret, session_token, None, "gatehouse"),
            service,
            region,
        }
    }

    /// Adds these headers and the signature over them, the body and the time.
    pub(super) fn sign(
        &self,
        request: RequestBuilder,
        url: &Url,
        headers: &[(&'static str, &'static str)],
        body: &[u8],
        time: SystemTime,
    ) -> RequestBuilder {
        let identity = self.credentials.clone().into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(self.service)
            .time(time)
            .settings(SigningSettings::default())
            .build()
            .expect("nothing is missing")
            .into();
        let signable = SignableRequest::new(
            "POST",
            url.as_str(),
            headers.iter().copied(),
            SignableBody::Bytes(body),
        )
        .expect("a URL and ASCII headers can be signed");
        let signed = sign(signable, &params)
            .expect("a key can sign")
            .into_parts()
            .0;
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        signed.headers().fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }
}

/// An error as it is told in a body. Its type may have a namespace before it, and a URL after it.
#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "__type", alias = "code")]
    kind: String,
}

/// What an error says: nearly all have status 400. The codes of throttling are those that the official SDKs know, and Bedrock's of a
/// quota that is used up. They are looked for where the SDKs look: in a header, else in the body.
pub(super) fn explain(headers: &HeaderMap, body: &[u8]) -> Option<Meaning> {
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
        | "ServiceQuotaExceededException"
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn throttling_is_told_by_the_body_of_a_400() {
        let explained = |kind: &str| {
            let body = json!({ "__type": kind, "message": "m" });
            explain(&HeaderMap::new(), &serde_json::to_vec(&body).unwrap())
        };
        for kind in [
            "ThrottlingException",
            "ProvisionedThroughputExceededException",
            "ServiceQuotaExceededException",
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
