//! Site keys and management tokens: secrets that are shown once, stored as SHA-256, and never
//! printed.
//!
//! A fast hash is enough: the secrets have at least 32 random base62 characters (190 bits), so they
//! cannot be guessed.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS: usize = 32;
/// Random base62 characters with at least 256 bits.
const RANDOM_CHARACTERS_OF_SESSIONS: usize = 43;
/// Longer texts cannot be one of our keys. They are refused before they are hashed.
const MAX_CHARACTERS: usize = 200;

/// The SHA-256 of a secret: what is stored and looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The SHA-256 of a secret that cannot be guessed.
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// The 32 bytes as they are stored.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for SecretHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// The text does not have the format of such a secret. Says no more: a malformed key is answered
/// like an unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed key")]
pub struct MalformedKey;

macro_rules! secrets {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal + $characters:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Makes a new secret from `random` bytes. It needs one byte below 248 for each
            /// character. Bytes from 248 up are skipped, since they would make some characters
            /// likelier than others.
            pub fn generate(random: impl IntoIterator<Item = u8>) -> Self {
                let mut text = String::from($prefix);
                text.extend(base62(random, $characters));
                assert_eq!(text.len(), $prefix.len() + $characters, "the source of randomness ended early");
                Self(text)
            }

            /// What is stored and looked up.
            pub fn hash(&self) -> SecretHash {
                SecretHash::of(&self.0)
            }

            /// The secret itself, to be shown to its owner once.
            pub fn expose(&self) -> &str {
                &self.0
            }

            /// The last four characters, so that an owner recognises the secret in a list.
            pub fn hint(&self) -> &str {
                let cut = self.0.len().saturating_sub(4).max($prefix.len());
                &self.0[cut..]
            }
        }

        impl FromStr for $name {
            type Err = MalformedKey;

            fn from_str(text: &str) -> Result<Self, MalformedKey> {
                let tail = text.strip_prefix($prefix).ok_or(MalformedKey)?;
                let plain = tail.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
                if tail.is_empty() || text.len() > MAX_CHARACTERS || !plain {
                    return Err(MalformedKey);
                }
                Ok(Self(text.to_owned()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(redacted)"))
            }
        }
    )+};
}

secrets! {
    /// The key with which an application submits for its site: `site_` and a run of characters.
    SiteKey = "site_" + RANDOM_CHARACTERS,
    /// The bearer token of the management interface: `mgmt_` and a run of characters.
    ManagementToken = "mgmt_" + RANDOM_CHARACTERS,
    /// The secret in a link that is used once: an invitation or a password reset.
    LinkSecret = "link_" + RANDOM_CHARACTERS,
    /// The secret that a browser holds while its user is signed in.
    SessionSecret = "session_" + RANDOM_CHARACTERS_OF_SESSIONS,
}

fn base62(random: impl IntoIterator<Item = u8>, characters: usize) -> impl Iterator<Item = char> {
    random
        .into_iter()
        .filter(|byte| *byte < 248)
        .take(characters)
        .map(|byte| char::from(BASE62[usize::from(byte % 62)]))
}

#[cfg(test)]
mod tests;
