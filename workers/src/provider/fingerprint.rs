//! What stands for a provider's configuration, as far as it may change what the provider says of a text. Answers that are kept belong
//! to a fingerprint: another model, address, policy or version of Gatehouse finds none of them.

use sha2::{Digest as _, Sha256};

use super::wire::Remote;

/// SHA-256 of everything that may change an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// What all kinds have in common. Its own version stands for how Gatehouse asks, and for what an answer means to it.
    pub(super) fn new(remote: &Remote, kind: &str) -> Self {
        let Remote {
            name,
            url,
            headers,
            scope,
            piece_bytes,
            auth: _,
            deadline: _,
            concurrency: _,
            breaker: _,
        } = remote;
        let start = Self([0; 32])
            .and(env!("CARGO_PKG_VERSION"))
            .and(kind)
            .and(name)
            .and(url.as_str())
            .and(&piece_bytes.to_string());
        let scored = scope.text.iter();
        let start = scored.fold(start, |all, category| all.and(category.as_str()));
        headers.iter().fold(start, |all, (name, value)| {
            all.and(name.as_str()).and_bytes(value.as_bytes())
        })
    }

    /// The same with something more that may change an answer.
    #[must_use]
    pub(crate) fn and(self, part: &str) -> Self {
        self.and_bytes(part.as_bytes())
    }

    /// Each step has a fixed length before what is new, so that no two lists of parts are taken for one another.
    fn and_bytes(self, part: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(self.0).chain_update(part);
        Self(hash.finalize().into())
    }

    /// The bytes.
    pub(crate) const fn bytes(self) -> [u8; 32] {
        self.0
    }
}
