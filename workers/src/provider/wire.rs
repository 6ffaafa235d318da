//! What all providers over the network have in common: one HTTP client each, whose connections are used again, bounds on
//! what they answer, and what statuses, headers and the bodies of errors mean.

mod auth;
mod code;
mod once;
mod pauses;
mod proxy;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use chrono::Utc;
use domain::{breaker::BreakerSettings, score::Scores};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
    redirect,
};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};
use url::Url;

use self::pauses::{spent, wait};
pub use self::{
    auth::Auth,
    proxy::{NoProxy, Proxy},
};
pub(super) use self::{
    code::{code as code_of, is_word},
    once::once,
};
use super::{
    Access, Answer, Fingerprint, Profile, ProviderError, Scope, Told,
    cost::{self, Usage},
};
use crate::{picture::Limits, tls};

/// An answer has a few kilobytes for each piece of a text.
const MAX_ANSWER: usize = 1 << 20;
/// How much of what a provider answers is kept with the item.
pub(super) const MAX_KEPT: usize = 64 << 10;
/// An error's body has a few words.
const MAX_EXPLANATION: usize = 64 << 10;

/// A provider over the network, as it is configured.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Where it is. The operator chose it: it is not subject to the egress rules for tenants.
    pub url: Url,
    /// How we show who we are.
    pub auth: Auth,
    /// What else stands in the head of each request.
    pub headers: HeaderMap,
    /// What it is to score; some of what it can.
    pub scope: Scope,
    /// How long it may take for a piece of a text, or for an image.
    pub deadline: Duration,
    /// Requests that one process makes at the same time.
    pub concurrency: usize,
    /// When it is paused.
    pub breaker: BreakerSettings,
    /// Bytes of text that it takes in one piece.
    pub piece_bytes: usize,
    /// The way to it, if it is not a direct one.
    pub proxy: Option<Proxy>,
}

/// What the body of an error says that its status does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It limits our requests.
    Limited,
    /// It failed by itself.
    Failed,
    /// It refuses what it was sent.
    Refused,
    /// It refuses whatever is sent: the key, the account or the address is wrong, or what was paid for is used up.
    Denied,
}

/// Reads the headers and the body of an error; none where its status says it all.
pub(super) type Explain = fn(&HeaderMap, &[u8]) -> Option<Meaning>;

/// One provider's end of the wire.
pub(super) struct Wire {
    http: Client,
    headers: HeaderMap,
    url: Url,
    auth: Auth,
    explain: Explain,
    profile: Profile,
}

/// What came back.
pub(super) struct Received {
    pub(super) body: Bytes,
    /// With this answer the limit is used up for so long.
    pub(super) spent: Option<Duration>,
}

/// What speaks to providers, and to what issues credentials for them. The operator chose where all of these are.
pub(super) type Http = Client;

/// What all providers are spoken to with. The environment's proxies are never used, only the operator's setting.
pub(super) fn client(
    connecting: Duration,
    proxy: Option<&Proxy>,
) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::client_config())
        .user_agent(concat!("Gatehouse/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connecting)
        .redirect(redirect::Policy::none())
        .no_proxy();
    match proxy {
        None => builder.build(),
        Some(proxy) => builder.proxy(proxy.all()?).build(),
    }
}

impl Wire {
    /// The wire to a provider that looks at texts only, and says by the status why it answers nothing else.
    pub(super) fn new(remote: Remote, kind: &'static str) -> Result<Self, ProviderError> {
        let http =
            client(remote.deadline, remote.proxy.as_ref()).map_err(ProviderError::Unreachable)?;
        let access = Access {
            credential: credential(&remote),
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
                limits: None,
                piece_bytes: remote.piece_bytes,
                told: &[],
                access: Some(access),
            },
        })
    }

    /// The same to one that looks at images within these limits.
    pub(super) fn with_images(mut self, limits: Limits) -> Self {
        self.profile.limits = Some(limits);
        self
    }

    /// The same to one whose errors are explained by their bodies.
    pub(super) fn with_explanations(mut self, explain: Explain) -> Self {
        self.explain = explain;
        self
    }

    /// The same to one whose answers tell what they cost.
    pub(super) fn telling(mut self, told: Usage) -> Self {
        self.profile.told = told;
        self
    }

    /// The same to one whose answers also depend on this.
    pub(super) fn depending_on(mut self, part: &str) -> Self {
        if let Some(access) = &mut self.profile.access {
            access.fingerprint = access.fingerprint.and(part);
        }
        self
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// A place below the provider's address.
    pub(super) fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        if !path.is_empty() {
            let base = url.path().trim_end_matches('/');
            let path = format!("{base}{path}");
            url.set_path(&path);
        }
        url
    }

    /// A request to one, which shows nothing of who we are.
    pub(super) fn request(&self, url: Url) -> RequestBuilder {
        self.http.post(url).headers(self.headers.clone())
    }

    /// Posts JSON to one, and shows who we are. Whoever asks sets a deadline around it.
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

    /// The same request, which shows who we are.
    pub(super) fn shown(&self, request: RequestBuilder, body: &[u8]) -> RequestBuilder {
        self.auth.show(request, body, Utc::now().timestamp())
    }

    /// Sends a request. Whoever asks sets a deadline around it.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Received, ProviderError> {
        let answer = request.send().await.map_err(unreachable)?;
        if !answer.status().is_success() {
            return Err(self.refusal(answer).await);
        }
        let spent = spent(answer.headers());
        let body = read(answer, MAX_ANSWER).await?;
        // An answer that cannot be used costs as much.
        cost::count(&self.profile.name, self.profile.told, &body);
        Ok(Received { body, spent })
    }

    async fn refusal(&self, answer: Response) -> ProviderError {
        let status = answer.status();
        let headers = answer.headers().clone();
        let body = read(answer, MAX_EXPLANATION).await.unwrap_or_default();
        let code = code::code(&headers, &body);
        let meaning = match code.as_deref() {
            Some(code) if code::is_lasting(code) => Meaning::Denied,
            _ => (self.explain)(&headers, &body).unwrap_or_else(|| Meaning::of(status)),
        };
        let told = Told {
            status: status.as_u16(),
            code,
        };
        meaning.error(told, wait(status, &headers))
    }
}

impl Meaning {
    /// What a status says by itself.
    fn of(status: StatusCode) -> Self {
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Self::Limited,
            StatusCode::REQUEST_TIMEOUT => Self::Failed,
            StatusCode::UNAUTHORIZED
            | StatusCode::PAYMENT_REQUIRED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::PROXY_AUTHENTICATION_REQUIRED => Self::Denied,
            _ if status.is_server_error() => Self::Failed,
            _ => Self::Refused,
        }
    }

    /// The error, with what was said of how long to wait.
    pub(super) fn error(self, told: Told, retry_after: Option<Duration>) -> ProviderError {
        match self {
            Self::Limited => ProviderError::Limited { told, retry_after },
            Self::Failed => ProviderError::Failed(told),
            Self::Refused => ProviderError::Refused(told),
            Self::Denied => ProviderError::Denied(told),
        }
    }
}

impl Received {
    /// The answer to a question that went as a whole.
    pub(super) fn answer(self, scores: Scores) -> Answer {
        Answer {
            scores,
            raw: Some(kept(&self.body)),
            spent: self.spent,
        }
    }
}

/// Tells apart what must not be asked together, and tells nothing of the key.
fn credential(remote: &Remote) -> String {
    let hash = Sha256::new()
        .chain_update(remote.url.as_str())
        .chain_update([0])
        .chain_update(remote.auth.key())
        .finalize();
    format!("{}:{}", remote.name, hex::encode(&hash[..8]))
}

fn unreachable(error: reqwest::Error) -> ProviderError {
    if error.is_timeout() {
        ProviderError::TimedOut
    } else {
        ProviderError::Unreachable(error.without_url())
    }
}

/// Reads a body of at most so many bytes.
pub(super) async fn read(mut answer: Response, most: usize) -> Result<Bytes, ProviderError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > most {
            return Err(ProviderError::Malformed("more than anybody reads"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// What an error says that came with status 200, in a word for programs.
pub(super) fn told(code: &str) -> Told {
    Told {
        status: 200,
        code: code::is_word(code).then(|| code.to_owned()),
    }
}

/// An answer's JSON.
pub(super) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, ProviderError> {
    // serde's message may quote the answer, which may quote the content.
    serde_json::from_slice(body).map_err(|_| ProviderError::Malformed("not the documented JSON"))
}

/// A score, if it is one.
pub(super) fn score(number: f64) -> Result<f64, ProviderError> {
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(ProviderError::Malformed("a score is not from 0 to 1"))
    }
}

/// An answer as it is kept, and not more than is kept.
fn kept(body: &[u8]) -> String {
    let kept = &body[..body.len().min(MAX_KEPT)];
    String::from_utf8_lossy(kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(url: &str, auth: Auth) -> Remote {
        Remote {
            name: "mine".into(),
            url: url.parse().unwrap(),
            auth,
            headers: HeaderMap::new(),
            scope: Scope::default(),
            deadline: Duration::from_secs(1),
            concurrency: 1,
            breaker: BreakerSettings::default(),
            piece_bytes: 1_000,
            proxy: None,
        }
    }

    #[test]
    fn answers_are_kept_as_they_are_and_bounded() {
        assert_eq!(kept(br#"{"a":  1}"#), r#"{"a":  1}"#);
        // Cut within a character.
        let long = kept(format!("x{}", "ü".repeat(MAX_KEPT)).as_bytes());
        assert!(long.len() <= MAX_KEPT + 3 && long.ends_with("ü\u{fffd}"));
    }

    #[test]
    fn a_credential_changes_with_the_key_and_the_address_and_shows_neither() {
        let remote = |url: &str, key: &str| remote(url, Auth::Bearer(key.into()));
        let first = remote("http://a/", "sk-1");
        assert!(credential(&first).starts_with("mine:"));
        assert_eq!(credential(&first), credential(&first));
        assert_ne!(credential(&first), credential(&remote("http://a/", "sk-2")));
        assert_ne!(credential(&first), credential(&remote("http://b/", "sk-1")));
        assert!(!format!("{first:?}").contains("sk-1"));
    }
}
