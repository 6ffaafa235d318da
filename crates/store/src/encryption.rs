//! Encryption of secrets at rest: they are sealed with XChaCha20-Poly1305 under the operator's master key.
//!
//! A sealed value is a key id (4 bytes), a random nonce (24 bytes) and the ciphertext with its tag.
//! Its owner is bound to it as associated data, so one site's sealed secret is worthless in another
//! site's row.

use std::fmt;

use chacha20poly1305::{
    XChaCha20Poly1305,
    aead::{Aead, KeyInit, Payload},
};
use sha2::{Digest, Sha256};
use sqlx::PgConnection;

use crate::Error;

/// Bytes of a key's id, with which a sealed value begins.
pub(crate) const KEY_ID: usize = 4;

const NONCE: usize = 24;

/// The owner of the sealed value that tells later processes whether they have the right key.
pub(crate) const CHECK_OWNER: &str = "master_key_check";

/// The operator's key: 32 bytes, from `GATEHOUSE_MASTER_KEY` or its file. Losing it loses the
/// sealed secrets. While it replaces an older key, the older key still opens what it has sealed.
#[derive(Clone)]
pub struct MasterKey {
    current: Key,
    older: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    cipher: XChaCha20Poly1305,
    id: KeyId,
}

/// Tells keys apart: the first bytes of a key's SHA-256.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyId([u8; KEY_ID]);

/// Why a sealed value could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Another key sealed it.
    #[error("it was sealed with another master key")]
    OtherKey,
    /// It was changed, moved to another row, or is not a sealed value.
    #[error("the sealed value is damaged")]
    Damaged,
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl MasterKey {
    /// From 32 random bytes.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            current: Key::new(key),
            older: Vec::new(),
        }
    }

    /// Also opens what this older key has sealed.
    #[must_use]
    pub fn replacing(mut self, older: [u8; 32]) -> Self {
        self.older.push(Key::new(older));
        self
    }

    /// The key that seals.
    pub fn id(&self) -> KeyId {
        self.current.id
    }

    /// The first [`KEY_ID`] bytes of everything that this key seals.
    pub(crate) fn mark(&self) -> &[u8] {
        &self.current.id.0
    }

    /// Seals `secret` for `owner`, for example `site:<id>`.
    pub fn seal(&self, owner: &str, secret: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE] = rand::random();
        let payload = Payload {
            msg: secret,
            aad: owner.as_bytes(),
        };
        let Key { cipher, id } = &self.current;
        let ciphertext = cipher
            .encrypt(&nonce.into(), payload)
            .expect("XChaCha20-Poly1305 fails only over 256 GB of plaintext");
        [&id.0[..], &nonce, &ciphertext].concat()
    }

    /// Opens what this key or an older key has sealed for the same owner ([`MasterKey::seal`]).
    pub fn open(&self, owner: &str, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        let (id, rest) = sealed
            .split_first_chunk::<KEY_ID>()
            .ok_or(OpenError::Damaged)?;
        let mut keys = std::iter::once(&self.current).chain(&self.older);
        let key = keys
            .find(|key| key.id.0 == *id)
            .ok_or(OpenError::OtherKey)?;
        let (nonce, ciphertext) = rest
            .split_first_chunk::<NONCE>()
            .ok_or(OpenError::Damaged)?;
        let payload = Payload {
            msg: ciphertext,
            aad: owner.as_bytes(),
        };
        key.cipher
            .decrypt(&(*nonce).into(), payload)
            .map_err(|_| OpenError::Damaged)
    }
}

impl Key {
    fn new(key: [u8; 32]) -> Self {
        let digest = Sha256::digest(key);
        Self {
            cipher: XChaCha20Poly1305::new(&key.into()),
            id: KeyId([digest[0], digest[1], digest[2], digest[3]]),
        }
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(redacted)")
    }
}

/// Whether this is the key that the database's secrets are sealed with. The first process on a new
/// database stores the sealed value that later processes check.
///
/// # Errors
/// [`Error::Unreadable`] if another key was used before.
pub async fn check_master_key(conn: &mut PgConnection, key: &MasterKey) -> Result<(), Error> {
    let sealed = key.seal(CHECK_OWNER, CHECK_OWNER.as_bytes());
    sqlx::query!(
        "insert into master_key_check (sealed) values ($1) on conflict do nothing",
        sealed
    )
    .execute(&mut *conn)
    .await?;
    // A statement of its own: it sees the row even when another process made it a moment ago.
    let sealed = sqlx::query_scalar!("select sealed from master_key_check")
        .fetch_one(conn)
        .await?;
    key.open(CHECK_OWNER, &sealed)?;
    Ok(())
}

#[cfg(test)]
mod tests;
