//! What all providers over the network have in common: requests, the reading of answers, and the
//! meaning of errors.
//!
//! In the objects of answers, each member occurs once ([`unique_keys`]). With two members of one name, it is not defined which of
//! them counts, and the second could hide the first.

mod error_code;
mod retry_after;

use std::{collections::BTreeMap, fmt, marker::PhantomData, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::{Bytes, BytesMut};
use chrono::Utc;
use domain::score::{Category, Scores};
use picture::{Limits, Rendition};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
    multipart::Part,
};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _, MapAccess, Visitor},
};
use url::Url;

pub(super) use self::error_code::{code as code_of, is_word};
use self::retry_after::{spent, wait};
use super::{
    Access, Answer, Fingerprint, Profile, ProviderError, Told,
    cost::{self, Usage},
    remote::{Auth, Remote, client},
};

/// The most bytes of an answer. Usually it has a few kilobytes for each piece of a text.
const MAX_ANSWER: usize = 1 << 20;
/// The most bytes of an error's body. Usually it has a few words.
const MAX_EXPLANATION: usize = 64 << 10;

/// The connection to one provider.
pub(super) struct Transport {
    http: Client,
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

    /// The same for a provider that also takes images within these limits, if it scores any.
    pub(super) fn with_images(mut self, limits: Limits) -> Self {
        self.profile.limits = (!self.profile.scope.image.is_empty()).then_some(limits);
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

/// The meaning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It limits our requests.
    Limited,
    /// It had an internal failure.
    Failed,
    /// It refuses this request.
    Refused,
    /// It refuses every request: the key, the account or the address is wrong, or the paid amount
    /// is used up.
    Denied,
}

/// Reads the headers and the body of an error. None if only its status matters.
pub(crate) type Explain = fn(&HeaderMap, &[u8]) -> Option<Meaning>;

impl Meaning {
    /// The meaning of a status by itself.
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

    /// The error, with the requested wait.
    pub(crate) fn error(self, told: Told, retry_after: Option<Duration>) -> ProviderError {
        match self {
            Self::Limited => ProviderError::Limited { told, retry_after },
            Self::Failed => ProviderError::Failed(told),
            Self::Refused => ProviderError::Refused(told),
            Self::Denied => ProviderError::Denied(told),
        }
    }
}

/// The code of an error that has status 200.
pub(crate) fn told(code: &str) -> Told {
    Told {
        status: 200,
        code: error_code::is_word(code).then(|| code.to_owned()),
    }
}

/// The most bytes of an answer that are kept with the item.
pub(crate) const MAX_KEPT: usize = 64 << 10;

/// An answer.
pub(crate) struct Received {
    pub(crate) body: Bytes,
    /// This answer used up the provider's limit for this time.
    pub(crate) spent: Option<Duration>,
}

impl Received {
    /// The answer to a question that was one request, with the scores that `read` finds in it.
    pub(crate) fn answer(
        self,
        read: impl FnOnce(&[u8]) -> Result<Scores, ProviderError>,
    ) -> Result<Answer, ProviderError> {
        Ok(Answer {
            scores: read(&self.body)?,
            raw: Some(kept(&self.body)),
            spent: self.spent,
        })
    }
}

fn unreachable(error: reqwest::Error) -> ProviderError {
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

/// Checks that an answer is about exactly the categories that were asked for.
pub(crate) fn check_categories<V>(
    answer: &BTreeMap<Category, V>,
    asked: &[Category],
) -> Result<(), ProviderError> {
    let mut asked_for = asked.iter();
    if answer.len() == asked.len() && asked_for.all(|category| answer.contains_key(category)) {
        Ok(())
    } else {
        Err(ProviderError::Malformed(
            "not the categories that were asked for",
        ))
    }
}

/// The highest of numbers, each of which must be a score.
pub(crate) fn highest(numbers: impl IntoIterator<Item = f64>) -> Result<f64, ProviderError> {
    let mut numbers = numbers.into_iter();
    numbers.try_fold(0.0, |highest: f64, number| Ok(highest.max(score(number)?)))
}

/// Checks that a number is a score.
pub(crate) fn score(number: f64) -> Result<f64, ProviderError> {
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(ProviderError::Malformed("a score is not from 0 to 1"))
    }
}

/// An image as a part of a form.
pub(crate) fn media(Rendition { format, bytes }: &Rendition) -> Part {
    let length = bytes.len() as u64;
    Part::stream_with_length(bytes.clone(), length).file_name(format!("image.{format}"))
}

/// An image as a URL that contains it.
pub(crate) fn data_uri(Rendition { format, bytes }: &Rendition) -> String {
    format!("data:image/{format};base64,{}", STANDARD.encode(bytes))
}

/// The beginning of an answer, at most [`MAX_KEPT`] bytes.
fn kept(body: &[u8]) -> String {
    let kept = &body[..body.len().min(MAX_KEPT)];
    String::from_utf8_lossy(kept).into_owned()
}

/// Reads an object, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// It is not an object, or a member occurs twice.
pub(crate) fn unique_keys<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
{
    deserializer.deserialize_map(Once(PhantomData))
}

struct Once<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Once<K, V> {
    type Value = BTreeMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = object.next_entry()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member is there twice"));
            }
        }
        Ok(members)
    }
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

    #[test]
    fn a_member_that_is_there_twice_is_refused_whatever_it_says() {
        let read = |text: &str| {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            unique_keys::<_, String, Option<f64>>(&mut deserializer)
        };
        let expected = BTreeMap::from([("a".to_owned(), Some(0.5)), ("b".to_owned(), None)]);
        assert_eq!(read(r#"{"a":0.5,"b":null}"#).unwrap(), expected);
        for text in [
            r#"{"a":0.97,"a":0.01}"#,
            r#"{"a":0.5,"b":0,"a":0.5}"#,
            r#"{"a":null,"a":0.5}"#,
            r#"{"a":0.5,"\u0061":0}"#,
            "[]",
            "null",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
