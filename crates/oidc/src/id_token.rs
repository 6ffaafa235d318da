//! Redeeming a code, and verifying the ID token that it gives with the keys of the provider (RFC 7517).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, Header, TokenData, Validation, decode,
    jwk::{Jwk, PublicKeyUse},
};
use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use serde_json::Value;
use url::{
    Url,
    form_urlencoded::{self, Serializer},
};

use crate::{
    Attempt, Failed, Settings,
    claims::{Claims, LEEWAY},
    discovery::Document,
    http,
    signature::ALGORITHMS,
};

/// The longest ID token. It has all groups of a person, but no more than a large header of a request.
const LONGEST: usize = 64 << 10;
/// How many keys of a set are looked at.
const MOST: usize = 100;

/// What a code gives.
#[derive(Deserialize)]
pub(crate) struct Tokens {
    pub(crate) id_token: String,
    /// With it, the provider can be asked about the person.
    pub(crate) access_token: Option<String>,
}

pub(crate) async fn redeem(
    http: &Client,
    document: &Document,
    settings: &Settings,
    attempt: &Attempt,
    code: &str,
) -> Result<Tokens, Failed> {
    let request = request(http, document, settings, attempt, code);
    let tokens: Tokens = http::send(request).await?;
    if tokens.id_token.len() > LONGEST {
        return Err(Failed::TooLarge(LONGEST));
    }
    Ok(tokens)
}

fn request(
    http: &Client,
    document: &Document,
    settings: &Settings,
    attempt: &Attempt,
    code: &str,
) -> RequestBuilder {
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", settings.redirect.as_str())
        .append_pair("code_verifier", &attempt.verifier);
    let (id, secret) = (settings.client_id.as_str(), settings.client_secret.expose());
    let mut request = http.post(document.token_endpoint.clone());
    if document.takes_secret_in_form() {
        form.append_pair("client_id", id)
            .append_pair("client_secret", secret);
    } else {
        request = request.header("authorization", basic(id, secret));
    }
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.body(form.finish())
}

/// Both are encoded as in forms first (RFC 6749, section 2.3.1).
fn basic(id: &str, secret: &str) -> String {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret));
    format!("Basic {}", STANDARD.encode(pair))
}

/// Reads how a token is signed.
pub(crate) fn header(token: &str) -> Result<Header, Failed> {
    // The library knows no `none`, so a token without a signature has no readable header.
    let header = jsonwebtoken::decode_header(token);
    let header = header.map_err(|_| {
        Failed::Untrusted("the ID token's header is unreadable, or it is not signed")
    })?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err(Failed::Untrusted(
            "the ID token is signed with a shared secret",
        ));
    }
    if header.crit.is_some() {
        return Err(Failed::Untrusted(
            "the ID token has an extension that must be understood",
        ));
    }
    Ok(header)
}

/// The claims of a token with a valid signature by one of the keys, that has not expired.
pub(crate) fn verify(
    token: &str,
    header: &Header,
    keys: &Keys,
    settings: &Settings,
) -> Result<Claims, Failed> {
    let mut wanted = Validation::new(header.alg);
    wanted.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    wanted.set_issuer(&[settings.issuer.as_str()]);
    wanted.set_audience(&[settings.client_id.as_str()]);
    wanted.validate_nbf = true;
    wanted.leeway = LEEWAY.num_seconds().unsigned_abs();
    let mut why = "the ID token is signed with a key that the provider does not publish";
    for key in keys.fitting(header) {
        match decode::<Claims>(token, key, &wanted) {
            Ok(TokenData { claims, .. }) => return Ok(claims),
            Err(error) => why = reason(&error),
        }
    }
    Err(Failed::Untrusted(why))
}

fn reason(error: &jsonwebtoken::errors::Error) -> &'static str {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::InvalidSignature => "the ID token's signature is wrong",
        ErrorKind::ExpiredSignature => "the ID token has expired",
        ErrorKind::ImmatureSignature => "the ID token is not valid yet",
        ErrorKind::InvalidIssuer => "the ID token is of another issuer",
        ErrorKind::InvalidAudience => "the ID token is for another client",
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => {
            "the ID token lacks iss, aud, sub or exp"
        }
        _ => "the ID token is malformed",
    }
}

/// A set of keys for signatures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(Vec<Key>);

#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    algorithm: Option<String>,
    verifies: DecodingKey,
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

impl Keys {
    pub(crate) async fn read(http: &Client, url: Url) -> Result<Self, Failed> {
        let set: Set = http::get(http, url).await?;
        Ok(Self::of(set.keys))
    }

    /// Keys of unknown kinds are left out, as the standard asks.
    pub(crate) fn of(keys: Vec<Value>) -> Self {
        let keys = keys.into_iter().take(MOST);
        let known = keys.filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        Self(known.filter_map(|jwk| Key::of(&jwk)).collect())
    }

    /// Whether a token's key is in the set.
    pub(crate) fn has(&self, header: &Header) -> bool {
        self.fitting(header).next().is_some()
    }

    /// The keys that a token may be signed with: the one that it names, or all of its kind if it names none.
    pub(crate) fn fitting(&self, header: &Header) -> impl Iterator<Item = &DecodingKey> {
        let (algorithm, id) = (header.alg, header.kid.as_deref());
        let fits =
            move |key: &&Key| key.is_for(algorithm) && (id.is_none() || key.id.as_deref() == id);
        self.0.iter().filter(fits).map(|key| &key.verifies)
    }
}

impl Key {
    fn of(jwk: &Jwk) -> Option<Self> {
        let for_signatures = matches!(
            jwk.common.public_key_use,
            None | Some(PublicKeyUse::Signature)
        );
        let key = DecodingKey::from_jwk(jwk).ok()?;
        let is_public = key.family() != AlgorithmFamily::Hmac;
        (for_signatures && is_public).then(|| Self {
            id: jwk.common.key_id.clone(),
            algorithm: jwk.common.key_algorithm.map(|known| known.to_string()),
            verifies: key,
        })
    }

    /// A key that names its algorithm verifies no other one.
    fn is_for(&self, algorithm: Algorithm) -> bool {
        let named = self.algorithm.as_ref();
        self.verifies.family() == algorithm.family()
            && named.is_none_or(|named| *named == format!("{algorithm:?}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;
    use crate::document_cache::DocumentCache;

    #[test]
    fn the_clients_name_and_secret_are_encoded_before_they_are_joined() {
        let sent = basic("a:b", "p w%")
            .strip_prefix("Basic ")
            .map(|pair| STANDARD.decode(pair));
        assert_eq!(sent.unwrap().unwrap(), b"a%3Ab:p+w%25");
    }

    #[test]
    fn a_token_without_a_signature_or_with_a_shared_secret_is_refused_before_any_key() {
        let token = |head: &str| {
            let part = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
            format!("{}.{}.", part(head), part("{}"))
        };
        for head in [
            r#"{"alg":"none"}"#,
            r#"{"alg":"NONE"}"#,
            r#"{"alg":"HS256"}"#,
            r#"{"alg":"RS256","crit":["b64"]}"#,
            "{}",
            "",
        ] {
            assert!(header(&token(head)).is_err(), "{head}");
        }
        assert!(header(&token(r#"{"alg":"RS256"}"#)).is_ok());
        assert!(header("a.b").is_err() && header("").is_err());
    }

    #[test]
    fn a_token_is_verified_with_the_key_that_it_names_and_only_by_its_algorithm() {
        let rsa = |kid: &str, more: Value| {
            let mut key = json!({ "kty": "RSA", "kid": kid, "n": "AQAB", "e": "AQAB" });
            for (name, value) in more.as_object().unwrap() {
                key[name] = value.clone();
            }
            key
        };
        let keys = Keys::of(vec![
            rsa("any", json!({})),
            rsa("rs256", json!({ "alg": "RS256", "use": "sig" })),
            rsa("enc", json!({ "use": "enc" })),
            json!({ "kty": "oct", "kid": "secret", "k": "AQAB" }),
            json!({ "kty": "unheard-of", "kid": "new" }),
        ]);
        let count = |algorithm, kid: Option<&str>| {
            let mut header = Header::new(algorithm);
            header.kid = kid.map(str::to_owned);
            keys.fitting(&header).count()
        };
        assert_eq!(count(Algorithm::RS256, Some("any")), 1);
        assert_eq!(count(Algorithm::PS256, Some("rs256")), 0);
        assert_eq!(count(Algorithm::RS256, None), 2);
        assert_eq!(count(Algorithm::ES256, Some("any")), 0);
        for kid in ["enc", "secret", "new"] {
            assert_eq!(count(Algorithm::RS256, Some(kid)), 0);
        }
        assert_eq!(count(Algorithm::HS256, Some("secret")), 0);
    }

    #[tokio::test]
    async fn a_key_that_is_new_at_the_provider_is_found_and_one_that_is_gone_is_forgotten() {
        let published = |kid: &str| {
            Keys::of(vec![
                json!({ "kty": "RSA", "kid": kid, "n": "AQAB", "e": "AQAB" }),
            ])
        };
        let (cached, start) = (DocumentCache::new(), Instant::now());
        let get = async |minutes: u64, kid: &str, now: &str| {
            let mut header = Header::new(Algorithm::RS256);
            header.kid = Some(kid.to_owned());
            let at = start + Duration::from_mins(minutes);
            let read = async || Ok(published(now));
            let keys = cached.get(at, |keys: &Keys| keys.has(&header), read).await;
            keys.unwrap().has(&header)
        };
        assert!(get(0, "first", "first").await);
        assert!(!get(0, "second", "second").await, "not within the minute");
        assert!(get(1, "second", "second").await);
        assert!(!get(2, "first", "second").await, "the first is gone");
    }
}
