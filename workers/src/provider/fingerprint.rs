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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{breaker::BreakerSettings, score::Category};
    use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};

    use super::*;
    use crate::provider::{Auth, Chat, ChatSettings, Hive, OpenAi, Provider, Scope, Style};

    fn remote() -> Remote {
        Remote {
            name: "mine".into(),
            url: "http://a/".parse().unwrap(),
            auth: Auth::Bearer("sk-1".into()),
            headers: HeaderMap::new(),
            scope: Scope {
                text: vec![Category::Hate],
                image: Vec::new(),
            },
            deadline: Duration::from_secs(1),
            concurrency: 1,
            breaker: BreakerSettings::default(),
            piece_bytes: 1_000,
            proxy: None,
        }
    }

    fn of(provider: &impl Provider) -> Fingerprint {
        provider.profile().access.as_ref().unwrap().fingerprint
    }

    #[test]
    fn whatever_may_change_an_answer_changes_it_and_nothing_else_does() {
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
        // A new key gets the same answers, and so does one who waits longer.
        let same: [fn(&mut Remote); 2] = [
            |remote| remote.auth = Auth::Bearer("sk-2".into()),
            |remote| remote.deadline = Duration::from_secs(2),
        ];
        for change in same {
            assert_eq!(fingerprint(change), different[0]);
        }
    }

    #[test]
    fn models_policies_and_what_is_flagged_change_it() {
        let chat = |model: &str, usual: &str, settings| {
            let usual = usual.to_owned();
            of(&Chat::new(remote(), model.into(), Style::Policy { usual }, settings).unwrap())
        };
        let plain = chat("m", "p", ChatSettings::default());
        assert_eq!(plain, chat("m", "p", ChatSettings::default()));
        let warm = ChatSettings {
            temperature: false,
            ..ChatSettings::default()
        };
        assert_ne!(plain, chat("n", "p", ChatSettings::default()));
        assert_ne!(plain, chat("m", "q", ChatSettings::default()));
        assert_ne!(plain, chat("m", "p", warm));
        let openai = |least| of(&OpenAi::new(remote(), "m".into(), least).unwrap());
        assert_ne!(openai(0.5), openai(0.6));
        // A key of Hive's is a project, and a project is a model.
        let hive = |key: &str| {
            let auth = Auth::Bearer(key.into());
            of(&Hive::new(Remote { auth, ..remote() }).unwrap())
        };
        assert_ne!(hive("1"), hive("2"));
    }
}
