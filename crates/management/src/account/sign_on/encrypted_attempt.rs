//! What a browser keeps of an attempt while it is at the provider.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use domain::{
    key::{LinkSecret, SecretHash},
    sign_in_limits::ATTEMPT,
};
use oidc::Attempt;
use serde::{Deserialize, Serialize};
use store::encryption::MasterKey;

/// To what the sealed attempt is bound, so that no other sealed value passes for one.
const OWNER: &str = "sign_on_attempt";
/// The longest text that is opened.
const LONGEST: usize = 2_048;

/// What an attempt is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Signing in.
    Enter,
    /// Signing in, and taking the address from an account that nobody has proved to own it.
    TakeAddress,
    /// Signing in to accept an invitation with this link.
    Join(LinkSecret),
    /// Authenticating again, with this session.
    ProveAgain(SecretHash),
    /// Connecting the account of this session.
    Connect(SecretHash),
}

/// An attempt and its purpose.
#[derive(Debug)]
pub(super) struct EncryptedAttempt {
    pub(super) attempt: Attempt,
    pub(super) purpose: Purpose,
}

/// How it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    attempt: Attempt,
    purpose: Kind,
    /// The hash of the session's secret.
    session: Option<[u8; 32]>,
    /// The secret of the link.
    #[serde(default)]
    link: Option<String>,
}

#[derive(Serialize, Deserialize)]
enum Kind {
    Enter,
    TakeAddress,
    Join,
    ProveAgain,
    Connect,
}

impl EncryptedAttempt {
    pub(super) fn seal(self, key: &MasterKey) -> String {
        let (purpose, session, link) = match self.purpose {
            Purpose::Enter => (Kind::Enter, None, None),
            Purpose::TakeAddress => (Kind::TakeAddress, None, None),
            Purpose::Join(link) => (Kind::Join, None, Some(link.expose().to_owned())),
            Purpose::ProveAgain(session) => (Kind::ProveAgain, Some(session), None),
            Purpose::Connect(session) => (Kind::Connect, Some(session), None),
        };
        let written = Written {
            attempt: self.attempt,
            purpose,
            session: session.map(|session| *session.as_bytes()),
            link,
        };
        let written = serde_json::to_vec(&written).expect("it has text keys only");
        URL_SAFE_NO_PAD.encode(key.seal(OWNER, &written))
    }

    /// None: it was not sealed here, or too long ago.
    pub(super) fn open(kept: &str, key: &MasterKey, now: DateTime<Utc>) -> Option<Self> {
        if kept.len() > LONGEST {
            return None;
        }
        let sealed = URL_SAFE_NO_PAD.decode(kept).ok()?;
        let opened = key.open(OWNER, &sealed).ok()?;
        let written: Written = serde_json::from_slice(&opened).ok()?;
        let session = written.session.map(SecretHash::from);
        let link = written.link.map(|link| link.parse::<LinkSecret>());
        let purpose = match (written.purpose, session, link) {
            (Kind::Enter, None, None) => Purpose::Enter,
            (Kind::TakeAddress, None, None) => Purpose::TakeAddress,
            (Kind::Join, None, Some(Ok(link))) => Purpose::Join(link),
            (Kind::ProveAgain, Some(session), None) => Purpose::ProveAgain(session),
            (Kind::Connect, Some(session), None) => Purpose::Connect(session),
            (
                Kind::Enter | Kind::TakeAddress | Kind::Join | Kind::ProveAgain | Kind::Connect,
                _,
                _,
            ) => return None,
        };
        let attempt = written.attempt;
        (now <= attempt.begun_at + ATTEMPT).then_some(Self { attempt, purpose })
    }
}

/// Under what it is noted that an attempt was used.
pub(super) fn key(attempt: &Attempt) -> SecretHash {
    SecretHash::of(&attempt.state)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use oidc::Ask;

    use super::*;

    #[test]
    fn an_attempt_is_opened_for_ten_minutes_with_the_key_that_sealed_it() {
        let (key, now) = (MasterKey::new([1; 32]), Utc::now());
        let hash = SecretHash::from([7; 32]);
        for purpose in [
            Purpose::Enter,
            Purpose::TakeAddress,
            Purpose::Join(LinkSecret::generate(std::iter::repeat(7))),
            Purpose::ProveAgain(hash),
            Purpose::Connect(hash),
        ] {
            let attempt = Attempt::begin(Ask::SignIn, now);
            let state = attempt.state.clone();
            let sealed = EncryptedAttempt {
                attempt,
                purpose: purpose.clone(),
            };
            let kept = sealed.seal(&key);
            assert!(kept.len() < LONGEST / 2, "{}", kept.len());
            let opened = EncryptedAttempt::open(&kept, &key, now + ATTEMPT).unwrap();
            assert_eq!((opened.attempt.state, opened.purpose), (state, purpose));
            let late = now + ATTEMPT + TimeDelta::milliseconds(1);
            assert!(EncryptedAttempt::open(&kept, &key, late).is_none());
            assert!(EncryptedAttempt::open(&kept, &MasterKey::new([2; 32]), now).is_none());
            assert!(EncryptedAttempt::open(&kept[1..], &key, now).is_none());
        }
        let other = URL_SAFE_NO_PAD.encode(key.seal("site:1", b"{}"));
        assert!(EncryptedAttempt::open(&other, &key, now).is_none());
        assert!(EncryptedAttempt::open("", &key, now).is_none());
    }
}
