//! What all providers over the network have in common: one HTTP client each, whose connections are used again, bounds on
//! what they answer, and what statuses and headers mean.

use std::{fmt, time::Duration};

use bytes::{Bytes, BytesMut};
use chrono::Utc;
use domain::{
    breaker::BreakerSettings,
    score::{Category, Scores},
    webhook::retry_after,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER},
    redirect,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{Access, Answer, ProviderError, chunks};
use crate::tls;

/// An answer has a few kilobytes for each piece of a text.
const MAX_ANSWER: usize = 1 << 20;
/// How much of what a provider answers is kept with the item.
const MAX_KEPT: usize = 64 << 10;
/// Pieces of one text that are under way at the same time.
const PIECES_AT_ONCE: usize = 4;
/// No provider keeps us waiting for longer with one answer.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// A provider over the network, as it is configured.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Where it is. The operator chose it: it is not subject to the egress rules for tenants.
    pub url: Url,
    /// How we show who we are.
    pub auth: Auth,
    /// What it is to score; some of what it can.
    pub categories: Vec<Category>,
    /// How long it may take for a text.
    pub deadline: Duration,
    /// Texts that one process shows it at the same time.
    pub concurrency: usize,
    /// When it is left alone.
    pub breaker: BreakerSettings,
    /// Bytes of text that it takes in one piece.
    pub piece_bytes: usize,
}

/// How we show who we are. The `Debug` form does not tell the key.
#[derive(Clone)]
pub enum Auth {
    /// Not at all.
    Nothing,
    /// `Authorization: Bearer` and the key.
    Bearer(String),
    /// `X-Gatehouse-Timestamp`, in Unix seconds, and `X-Gatehouse-Signature`: `sha256=` and the hex HMAC-SHA256, by the key,
    /// of the timestamp, a full stop and the body.
    Hmac(String),
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Bearer(_) => "Bearer(..)",
            Self::Hmac(_) => "Hmac(..)",
        })
    }
}

impl Auth {
    fn key(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Bearer(key) | Self::Hmac(key) => key,
        }
    }

    fn show(&self, request: RequestBuilder, body: &[u8], timestamp: i64) -> RequestBuilder {
        match self {
            Self::Nothing => request,
            Self::Bearer(key) => request.bearer_auth(key),
            Self::Hmac(key) => {
                let timestamp = timestamp.to_string();
                let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes())
                    .expect("HMAC takes keys of every length");
                mac.update(timestamp.as_bytes());
                mac.update(b".");
                mac.update(body);
                let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
                request
                    .header("X-Gatehouse-Timestamp", timestamp)
                    .header("X-Gatehouse-Signature", signature)
            }
        }
    }
}

/// One provider's end of the wire.
pub(super) struct Wire {
    http: Client,
    remote: Remote,
    access: Access,
}

/// What came back for one piece of a text.
pub(super) struct Said {
    pub(super) scores: Scores,
    pub(super) body: Bytes,
    pub(super) spent: Option<Duration>,
}

/// What came back.
pub(super) struct Received {
    pub(super) body: Bytes,
    /// With this answer the limit is used up for so long.
    pub(super) spent: Option<Duration>,
}

impl Wire {
    pub(super) fn new(remote: Remote) -> Result<Self, ProviderError> {
        let http = Client::builder()
            .tls_backend_preconfigured(tls::client_config())
            .connect_timeout(remote.deadline)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(ProviderError::Unreachable)?;
        let access = Access {
            credential: credential(&remote),
            concurrency: remote.concurrency,
            deadline: remote.deadline,
            breaker: remote.breaker,
        };
        Ok(Self {
            http,
            remote,
            access,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.remote.name
    }

    pub(super) fn categories(&self) -> &[Category] {
        &self.remote.categories
    }

    pub(super) fn access(&self) -> &Access {
        &self.access
    }

    /// The text in pieces that the provider takes.
    pub(super) fn pieces<'a>(&self, text: &'a str) -> Vec<&'a str> {
        chunks::pieces(text, self.remote.piece_bytes)
    }

    /// Posts JSON. Whoever asks sets a deadline around it.
    pub(super) async fn post(&self, body: &impl Serialize) -> Result<Received, ProviderError> {
        let body = serde_json::to_vec(body).expect("what we send is JSON");
        let request = self.http.post(self.remote.url.clone());
        let request = self
            .remote
            .auth
            .show(request, &body, Utc::now().timestamp())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let answer = request.send().await.map_err(unreachable)?;
        if let Some(error) = refusal(&answer) {
            return Err(error);
        }
        let spent = spent(answer.headers());
        let body = read(answer).await?;
        Ok(Received { body, spent })
    }
}

/// The answers to all pieces of a text, a few of which are under way at a time, made one.
pub(super) async fn together(
    pieces: Vec<impl Future<Output = Result<Said, ProviderError>>>,
) -> Result<Answer, ProviderError> {
    let said: Vec<Said> = stream::iter(pieces)
        .buffered(PIECES_AT_ONCE)
        .try_collect()
        .await?;
    let scores: Vec<Scores> = said.iter().map(|said| said.scores).collect();
    let spent = said.iter().filter_map(|said| said.spent).max();
    let bodies: Vec<Bytes> = said.into_iter().map(|said| said.body).collect();
    Ok(Answer {
        scores: chunks::merge(&scores)?,
        raw: Some(kept(&bodies)),
        spent,
    })
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

fn refusal(answer: &Response) -> Option<ProviderError> {
    let status = answer.status();
    if status.is_success() {
        return None;
    }
    let code = status.as_u16();
    Some(match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            let asked = answer.headers().get(RETRY_AFTER);
            let asked = asked.and_then(|value| value.to_str().ok());
            ProviderError::Limited {
                status: code,
                retry_after: asked
                    .and_then(|value| retry_after(code, value, Utc::now()))
                    .or_else(|| spent(answer.headers()))
                    .map(|wait| wait.min(LONGEST_PAUSE)),
            }
        }
        _ if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
            ProviderError::Failed(code)
        }
        _ => ProviderError::Refused(code),
    })
}

async fn read(mut answer: Response) -> Result<Bytes, ProviderError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(ProviderError::Malformed("more than 1 MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// How long nothing more is allowed, by `x-ratelimit-remaining-*` and `x-ratelimit-reset-*`: OpenAI's headers, which others
/// have taken up.
fn spent(headers: &HeaderMap) -> Option<Duration> {
    let value = |name: &str| headers.get(name)?.to_str().ok();
    ["requests", "tokens"]
        .into_iter()
        .filter(|what| value(&format!("x-ratelimit-remaining-{what}")) == Some("0"))
        .filter_map(|what| duration(value(&format!("x-ratelimit-reset-{what}"))?))
        .max()
        .map(|wait| wait.min(LONGEST_PAUSE))
}

/// Reads `12ms`, `1.5s`, `6m0s`, `1h2m3s`; a number without a unit is seconds.
fn duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let unit = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let unit = match unit {
            "" | "s" => 1.0,
            "ms" => 0.001,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        rest = after;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// Answers as they are kept: one after the other, and not more than is kept.
pub(super) fn kept(bodies: &[Bytes]) -> String {
    let bytes = bodies.join(&b'\n');
    let kept = &bytes[..bytes.len().min(MAX_KEPT)];
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
            categories: Vec::new(),
            deadline: Duration::from_secs(1),
            concurrency: 1,
            breaker: BreakerSettings::default(),
            piece_bytes: 1_000,
        }
    }

    #[test]
    fn reset_times_are_read_in_every_form() {
        for (text, expected) in [
            ("12ms", Some(12)),
            ("1s", Some(1_000)),
            ("1.5s", Some(1_500)),
            ("6m0s", Some(360_000)),
            ("1h2m3s", Some(3_723_000)),
            ("7", Some(7_000)),
            ("", None),
            ("soon", None),
            ("1d", None),
            ("1.2.3s", None),
            ("-1s", None),
        ] {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(duration(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_limit_is_spent_when_nothing_remains_of_it_and_no_pause_is_longer_than_an_hour() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            pairs.collect::<HeaderMap>()
        };
        let tokens = headers(&[
            ("x-ratelimit-remaining-requests", "12"),
            ("x-ratelimit-reset-requests", "6m0s"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "250ms"),
        ]);
        assert_eq!(spent(&tokens), Some(Duration::from_millis(250)));
        let long = headers(&[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "24h"),
        ]);
        assert_eq!(spent(&long), Some(LONGEST_PAUSE));
        assert_eq!(spent(&HeaderMap::new()), None);
    }

    #[test]
    fn answers_are_kept_as_they_are_and_bounded() {
        let body = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        assert_eq!(kept(&[body(r#"{"a":  1}"#)]), r#"{"a":  1}"#);
        assert_eq!(kept(&[body("1"), body("2")]), "1\n2");
        // Cut within a character.
        let long = kept(&[body(&format!("x{}", "ü".repeat(MAX_KEPT)))]);
        assert!(long.len() <= MAX_KEPT + 3 && long.ends_with("ü\u{fffd}"));
    }

    /// With HMAC the signature is what `printf '1800000000.{"text":"x"}' | openssl dgst -sha256 -hmac a-key` prints.
    #[test]
    fn requests_show_who_we_are_in_the_documented_way() {
        let shown = |auth: Auth| {
            let remote = remote("http://h/", auth);
            let wire = Wire::new(remote.clone()).unwrap();
            let request = wire.http.post("http://h/");
            let request = remote.auth.show(request, br#"{"text":"x"}"#, 1_800_000_000);
            request.build().unwrap().headers().clone()
        };
        assert_eq!(
            shown(Auth::Bearer("a-key".into()))["authorization"],
            "Bearer a-key"
        );
        let hmac = shown(Auth::Hmac("a-key".into()));
        assert_eq!(hmac["x-gatehouse-timestamp"], "1800000000");
        assert_eq!(
            hmac["x-gatehouse-signature"],
            "sha256=fd18fe58d09a720900dd06171cbf5c35c8ad9532b884e7253c4ced92b463ab89"
        );
        assert!(shown(Auth::Nothing).is_empty());
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
