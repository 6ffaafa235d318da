//! The keys with which the provider signs (RFC 7517).

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, Header,
    jwk::{Jwk, PublicKeyUse},
};
use reqwest::Client;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::{Failed, http};

/// How many keys of a set are looked at.
const MOST: usize = 100;

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
