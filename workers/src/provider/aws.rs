//! What the services of AWS have in common. Requests are signed by AWS's own `aws-sigv4`. Errors,
//! including throttling, have status 400 and a type.

#[cfg(test)]
pub(crate) mod fake;
mod role;

use std::{sync::Arc, time::SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4,
};
use bytes::Bytes;
use reqwest::{RequestBuilder, header::HeaderMap};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use self::role::Holder;
pub use self::role::{AwsRole, ContainerToken};
use super::{
    ProviderError,
    remote::{Auth, Proxy},
    transport::{Meaning, Received, Transport, parsed},
};

/// An AWS access key. The `Debug` form does not show the secret.
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
    pub(super) fn credentials(&self) -> Credentials {
        let token = self.session_token.clone();
        Credentials::new(&self.id, &self.secret, token, None, "gatehouse")
    }
}

/// Where AWS credentials come from.
#[derive(Clone, Debug)]
pub enum AwsAccess {
    /// A key that the operator configured.
    Key(AwsKey),
    /// The role of the machine, container or pod.
    Role(AwsRole),
}

impl AwsAccess {
    /// Distinguishes these credentials from others. It is never sent.
    pub(super) fn auth(&self) -> Auth {
        Auth::Own(match self {
            Self::Key(key) => format!("{}:{}", key.id, key.secret),
            Self::Role(role) => role.identity(),
        })
    }
}

/// Signs requests to one service in one region.
pub(super) struct Signer {
    holder: Holding,
    service: &'static str,
    region: String,
}

enum Holding {
    Key(Credentials),
    Role(Arc<Holder>),
}

impl Signer {
    /// A role's credentials are fetched through the proxy if they come from AWS's service.
    pub(super) fn new(
        access: AwsAccess,
        service: &'static str,
        region: String,
        proxy: Option<&Proxy>,
    ) -> Result<Self, ProviderError> {
        let holder = match access {
            AwsAccess::Key(key) => Holding::Key(key.credentials()),
            AwsAccess::Role(role) => Holding::Role(Holder::new(role, proxy)?),
        };
        Ok(Self {
            holder,
            service,
            region,
        })
    }

    /// Posts this as JSON to a URL, signed with the current time. If AWS says that a role's credentials
    /// have expired, they are renewed and the request is sent once more.
    pub(super) async fn post(
        &self,
        transport: &Transport,
        url: &Url,
        headers: &[(&'static str, &'static str)],
        request: &Value,
    ) -> Result<Received, ProviderError> {
        let body = Bytes::from(serde_json::to_vec(request).expect("what we send is JSON"));
        let send = async |credentials: &Credentials| {
            let (request, now) = (transport.request(url.clone()), SystemTime::now());
            let request = self.sign(credentials, request, url, headers, &body, now);
            transport.send(request.body(body.clone())).await
        };
        let holder = match &self.holder {
            Holding::Key(credentials) => return send(credentials).await,
            Holding::Role(holder) => holder,
        };
        let credentials = holder.current().await?;
        match send(&credentials).await {
            Err(error) if error.code().is_some_and(is_expired) => {
                send(&holder.instead_of(&credentials).await?).await
            }
            answer => answer,
        }
    }

    /// Adds these headers and the signature over them, the body and the time.
    pub(super) fn sign(
        &self,
        credentials: &Credentials,
        request: RequestBuilder,
        url: &Url,
        headers: &[(&'static str, &'static str)],
        body: &[u8],
        time: SystemTime,
    ) -> RequestBuilder {
        let identity = credentials.clone().into();
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

/// Whether an error says that the credentials of the request have expired.
fn is_expired(code: &str) -> bool {
    matches!(code, "ExpiredTokenException" | "ExpiredToken")
}

/// An error in a body. Its type may have a namespace before it, and a URL after it.
#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "__type", alias = "code")]
    kind: String,
}

/// What an error means. Almost all have status 400. The codes for throttling are those of the
/// official SDKs, and Bedrock's code for a used-up quota. They are read where the SDKs read them:
/// from a header, otherwise from the body.
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
        | "ExpiredToken"
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
