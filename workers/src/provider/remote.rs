//! A provider over the network, as the operator configured it.

mod auth;
mod client;
mod proxy;

use std::time::Duration;

use domain::breaker::BreakerSettings;
use reqwest::header::HeaderMap;
use sha2::{Digest as _, Sha256};
use url::Url;

pub(super) use self::client::{Http, client};
pub use self::{
    auth::Auth,
    proxy::{NoProxy, Proxy},
};
use super::Scope;

/// The configuration of a provider over the network.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Its URL. The operator chose it, so the egress rules for tenants do not apply.
    pub url: Url,
    /// How we authenticate.
    pub auth: Auth,
    /// Other headers of each request.
    pub headers: HeaderMap,
    /// The categories that it scores, of those that it can score.
    pub scope: Scope,
    /// How long it may take for a piece of a text, or for an image.
    pub deadline: Duration,
    /// Requests that one process makes at the same time.
    pub concurrency: usize,
    /// When it is paused.
    pub breaker: BreakerSettings,
    /// Bytes of text that it takes in one piece.
    pub piece_bytes: usize,
    /// The proxy to it, if there is one.
    pub proxy: Option<Proxy>,
}

impl Remote {
    /// Identifies the address and the key, without showing the key. Limits and failures are counted
    /// for each credential.
    pub(super) fn credential(&self) -> String {
        let hash = Sha256::new()
            .chain_update(self.url.as_str())
            .chain_update([0])
            .chain_update(self.auth.key())
            .finalize();
        format!("{}:{}", self.name, hex::encode(&hash[..8]))
    }
}

#[cfg(test)]
impl Remote {
    /// A provider named `mine`, for tests.
    pub(crate) fn example(url: &str, auth: Auth) -> Self {
        Self {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_changes_with_the_key_and_the_address_and_shows_neither() {
        let remote = |url: &str, key: &str| Remote::example(url, Auth::Bearer(key.into()));
        let first = remote("http://a/", "sk-1");
        assert!(first.credential().starts_with("mine:"));
        assert_eq!(first.credential(), first.credential());
        assert_ne!(first.credential(), remote("http://a/", "sk-2").credential());
        assert_ne!(first.credential(), remote("http://b/", "sk-1").credential());
        assert!(!format!("{first:?}").contains("sk-1"));
    }
}
