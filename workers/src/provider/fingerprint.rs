//! A hash of the part of a provider's configuration that can change its answer to a text. Kept
//! answers belong to a fingerprint, so another model, address, policy or version of Gatehouse does
//! not find them.

use sha2::{Digest as _, Sha256};

use super::remote::Remote;

/// SHA-256 of everything that can change an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of what all kinds have in common. Gatehouse's version is part of it, because
    /// another version may ask differently or read answers differently.
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
            proxy: _,
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

    /// The same with something more that can change an answer.
    #[must_use]
    pub(crate) fn and(self, part: &str) -> Self {
        self.and_bytes(part.as_bytes())
    }

    /// Each step hashes a fixed length before the new part, so that different lists of parts never
    /// have the same input.
    fn and_bytes(self, part: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(self.0).chain_update(part);
        Self(hash.finalize().into())
    }

    /// The bytes.
    pub(crate) const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::score::Category;
    use reqwest::header::{ACCEPT, HeaderValue};

    use super::*;
    use crate::provider::Auth;

    fn remote() -> Remote {
        let mut remote = Remote::example("http://a/", Auth::Bearer("sk-1".into()));
        remote.scope.text.push(Category::Hate);
        remote
    }

    #[test]
    fn case_72_whatever_can_change_an_answer_changes_the_fingerprint_and_nothing_else_does() {
        let fingerprint = |change: fn(&mut Remote)| {
            let mut remote = remote();
            change(&mut remote);
            Fingerprint::new(&remote, "kind")
        };
        let changes: [fn(&mut Remote); 6] = [
            |_| {},
            |remote| remote.name = "other".into(),
            |remote| remote.url = "http://b/".parse().unwrap(),
            |remote| remote.piece_bytes = 2_000,
            |remote| remote.scope.text.push(Category::Spam),
            |remote| {
                remote.headers.insert(ACCEPT, HeaderValue::from_static("x"));
            },
        ];
        let different: Vec<Fingerprint> = changes.into_iter().map(fingerprint).collect();
        for (place, one) in different.iter().enumerate() {
            assert!(!different[..place].contains(one), "{place}");
        }
        assert_ne!(different[0], Fingerprint::new(&remote(), "other"));
        // A new key or a longer deadline gets the same answers.
        let same: [fn(&mut Remote); 2] = [
            |remote| remote.auth = Auth::Bearer("sk-2".into()),
            |remote| remote.deadline = Duration::from_secs(2),
        ];
        for change in same {
            assert_eq!(fingerprint(change), different[0]);
        }
    }
}
