//! What all providers over the network have in common: requests, the reading of answers, and the
//! meaning of errors.

mod error_code;
mod error_meaning;
mod response;
mod retry_after;
mod unique_keys;

use std::sync::Arc;

use chrono::Utc;
use reqwest::{
    RequestBuilder, Response,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde::Serialize;
use url::Url;

pub(super) use self::{
    error_code::{code as code_of, is_word},
    error_meaning::{Meaning, told},
    response::{MAX_KEPT, Received, parsed, read, score},
    unique_keys::unique_keys,
};
use self::{
    error_meaning::Explain,
    response::unreachable,
    retry_after::{spent, wait},
};
use super::{
    Access, Fingerprint, Profile, ProviderError, Told,
    cost::{self, Usage},
    remote::{Auth, Http, Remote, client},
};
use crate::picture::Limits;

/// The most bytes of an answer. Usually it has a few kilobytes for each piece of a text.
const MAX_ANSWER: usize = 1 << 20;
/// The most bytes of an error's body. Usually it has a few words.
const MAX_EXPLANATION: usize = 64 << 10;

/// The connection to one provider.
pub(super) struct Transport {
    http: Http,
    headers: HeaderMap,
    url: Url,
    auth: Auth,
    explain: Explain,
    profile: Profile,
}

impl Transport {
    /// The transport to a provider for texts only, whose errors are explained by their status.
    pub(super) fn new(remote: Remote, kind: &'static str) -> Result<Self, ProviderError> {
        let http =
            client(remote.deadline, remote.proxy.as_ref()).map_err(ProviderError::Unreachable)?;
        let access = Access {
            credential: remote.credential(),
            fingerprint: Fingerprint::new(&remote, kind),
            concurrency: remote.concurrency,
            deadline: remote.deadline,
            breaker: remote.breaker,
        };
        Ok(Self {
            http,
            headers: remote.headers,
            url: remote.url,
            auth: remote.auth,
            explain: |_, _| None,
            profile: Profile {
                name: remote.name,
                kind,
                scope: remote.scope,
                is_narrow: false,
                limits: None,
                piece_bytes: remote.piece_bytes,
                told: &[],
                cost_counter: Arc::default(),
                access: Some(access),
            },
        })
    }

    /// The same for a provider that also takes images within these limits.
    pub(super) fn with_images(mut self, limits: Limits) -> Self {
        self.profile.limits = Some(limits);
        self
    }

    /// The same for a provider whose errors are explained by their bodies.
    pub(super) fn with_explanations(mut self, explain: Explain) -> Self {
        self.explain = explain;
        self
    }

    /// The same for a provider whose answers tell their cost.
    pub(super) fn telling(mut self, told: Usage) -> Self {
        self.profile.told = told;
        self
    }

    /// The same for a provider whose answers also depend on this.
    pub(super) fn depending_on(mut self, part: &str) -> Self {
        if let Some(access) = &mut self.profile.access {
            access.fingerprint = access.fingerprint.and(part);
        }
        self
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// A URL below the provider's address.
    pub(super) fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        if !path.is_empty() {
            let base = url.path().trim_end_matches('/');
            let path = format!("{base}{path}");
            url.set_path(&path);
        }
        url
    }

    /// A request to a URL, without authentication.
    pub(super) fn request(&self, url: Url) -> RequestBuilder {
        self.http.post(url).headers(self.headers.clone())
    }

    /// Posts JSON to a URL, with authentication. The caller sets a deadline.
    pub(super) async fn post(
        &self,
        url: Url,
        body: &impl Serialize,
    ) -> Result<Received, ProviderError> {
        let body = serde_json::to_vec(body).expect("what we send is JSON");
        let request = self
            .shown(self.request(url), &body)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        self.send(request).await
    }

    /// The same request with authentication.
    pub(super) fn shown(&self, request: RequestBuilder, body: &[u8]) -> RequestBuilder {
        self.auth.show(request, body, Utc::now().timestamp())
    }

    /// Sends a request. The caller sets a deadline.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Received, ProviderError> {
        let answer = request.send().await.map_err(unreachable)?;
        if !answer.status().is_success() {
            return Err(self.refusal(answer).await);
        }
        let spent = spent(answer.headers());
        let body = read(answer, MAX_ANSWER).await?;
        // An unusable answer costs as much.
        cost::count(&self.profile, &body);
        Ok(Received { body, spent })
    }

    async fn refusal(&self, answer: Response) -> ProviderError {
        let status = answer.status();
        let headers = answer.headers().clone();
        let body = read(answer, MAX_EXPLANATION).await.unwrap_or_default();
        let code = error_code::code(&headers, &body);
        let meaning = match code.as_deref() {
            Some(code) if error_code::is_lasting(code) => Meaning::Denied,
            _ => (self.explain)(&headers, &body).unwrap_or_else(|| Meaning::of(status)),
        };
        let told = Told {
            status: status.as_u16(),
            code,
        };
        meaning.error(told, wait(status, &headers))
    }
}
