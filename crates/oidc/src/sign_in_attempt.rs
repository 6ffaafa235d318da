//! One attempt to sign in: what ties the provider's answer to the browser that began it.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What the provider is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Say who it is. A person who is signed in at the provider may not even notice.
    SignIn,
    /// Authenticate the person again, although signed in there.
    Again,
}

/// One attempt. Its owner keeps it secret, and bound to one browser, until the provider has answered.
#[derive(Clone, Serialize, Deserialize)]
pub struct Attempt {
    /// Comes back in the address, and shows that this browser began the attempt.
    pub state: String,
    /// Comes back in the ID token, and shows that the token was made for this attempt.
    pub(crate) nonce: String,
    /// Shows the provider that the one who redeems the code is the one who began (RFC 7636).
    pub(crate) verifier: String,
    /// What was asked.
    pub ask: Ask,
    /// When it began.
    pub begun_at: DateTime<Utc>,
}

impl Attempt {
    /// Begins an attempt now.
    pub fn begin(ask: Ask, now: DateTime<Utc>) -> Self {
        Self {
            state: random(),
            nonce: random(),
            verifier: random(),
            ask,
            begun_at: now,
        }
    }

    /// The part of the verifier that the provider may see before the code is redeemed: method S256.
    pub(crate) fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier))
    }
}

impl fmt::Debug for Attempt {
    /// Without its secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("ask", &self.ask)
            .field("begun_at", &self.begun_at)
            .finish_non_exhaustive()
    }
}

/// 256 random bits as 43 characters, which is also the least that PKCE allows.
fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let attempt = Attempt {
            verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned(),
            ..Attempt::begin(Ask::SignIn, DateTime::UNIX_EPOCH)
        };
        assert_eq!(
            attempt.challenge(),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }
}
