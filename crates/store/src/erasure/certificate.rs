//! Certificates of erasures: what was removed, when, and for whom, signed as a JSON web signature
//! (RFC 7515) in its compact form with Ed25519 (RFC 8037).
//!
//! The key that signs them is made when the first certificate needs it, and stored sealed with the
//! master key. The public key is stored beside it, so anyone with access to the database can check
//! certificates.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{erasure::Certificate, id::SigningKeyId};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{
    Error,
    encryption::{MasterKey, OpenError},
};

/// The header of a certificate.
#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    kid: SigningKeyId,
}

/// The only algorithm.
const ALGORITHM: &str = "EdDSA";

/// Why a certificate is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The text is not a JSON web signature in compact form.
    #[error(
        "it is not a JSON web signature: three parts of base64url, with full stops between them"
    )]
    Malformed,
    /// Another algorithm.
    #[error("it is not signed with EdDSA")]
    OtherAlgorithm,
    /// Another key, or it was changed.
    #[error(
        "the signature does not fit: the certificate was changed, or another key has signed it"
    )]
    Signature,
    /// The signature fits, but what is signed is no certificate of this version.
    #[error("what is signed is not a certificate that this version can read")]
    Unreadable,
}

/// Signs a certificate.
pub(super) fn sign(
    key: &SigningKey,
    certificate: &Certificate,
) -> Result<String, serde_json::Error> {
    let header = Header {
        alg: ALGORITHM.into(),
        kid: key.id,
    };
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&header)?),
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(certificate)?)
    );
    let signature = key.pair.sign(signed.as_bytes());
    Ok(format!(
        "{signed}.{}",
        URL_SAFE_NO_PAD.encode(signature.as_ref())
    ))
}

/// What a certificate says, if this key has signed it.
///
/// # Errors
/// It is not valid.
pub fn verify(jws: &str, public_key: &[u8]) -> Result<Certificate, Invalid> {
    let (signed, signature) = jws.rsplit_once('.').ok_or(Invalid::Malformed)?;
    let (header, payload) = signed.split_once('.').ok_or(Invalid::Malformed)?;
    let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Invalid::Malformed);
    let (header, payload, signature) = (decoded(header)?, decoded(payload)?, decoded(signature)?);
    let header: Header = serde_json::from_slice(&header).map_err(|_| Invalid::Malformed)?;
    if header.alg != ALGORITHM {
        return Err(Invalid::OtherAlgorithm);
    }
    UnparsedPublicKey::new(&ED25519, public_key)
        .verify(signed.as_bytes(), &signature)
        .map_err(|_| Invalid::Signature)?;
    serde_json::from_slice(&payload).map_err(|_| Invalid::Unreadable)
}

/// What a certificate says, without checking who has signed it. To show it.
pub fn read(jws: &str) -> Option<Certificate> {
    let payload = jws.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

/// Ed25519 public keys have so many bytes.
const BYTES: usize = 32;

/// The public key that checks certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// Its id, the `kid` of certificates.
    pub id: SigningKeyId,
    /// Its bytes, RFC 8032.
    pub bytes: [u8; BYTES],
}

/// A key that signs.
pub(super) struct SigningKey {
    pub(super) id: SigningKeyId,
    pub(super) pair: Ed25519KeyPair,
}

/// What a sealed key is bound to.
fn owner(id: SigningKeyId) -> String {
    format!("signing-key:{id}")
}

/// The public key; none if there is none yet.
pub async fn public_key(conn: &mut PgConnection) -> Result<Option<PublicKey>, Error> {
    let row = sqlx::query!("select id, public_key from signing_keys")
        .fetch_optional(conn)
        .await?;
    row.map(|row| {
        let bytes = <[u8; BYTES]>::try_from(row.public_key);
        Ok(PublicKey {
            id: row.id.into(),
            bytes: bytes.map_err(|_| Error::Unreadable("a public key has 32 bytes".into()))?,
        })
    })
    .transpose()
}

/// The public key. It is made with its private half if there is none.
pub async fn made_public_key(pool: &PgPool, master_key: &MasterKey) -> Result<PublicKey, Error> {
    let key = signing_key(pool, master_key).await?;
    let bytes = <[u8; BYTES]>::try_from(key.pair.public_key().as_ref());
    Ok(PublicKey {
        id: key.id,
        bytes: bytes.map_err(|_| Error::Unreadable("a public key has 32 bytes".into()))?,
    })
}

/// The key that signs. It is made if there is none.
pub(super) async fn signing_key(
    pool: &PgPool,
    master_key: &MasterKey,
) -> Result<SigningKey, Error> {
    if let Some(key) = load(pool, master_key).await? {
        return Ok(key);
    }
    let id = SigningKeyId::from(Uuid::now_v7());
    let rejected = |what: &str| Error::Unreadable(format!("a signing key could not be {what}"));
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new())
        .map_err(|_| rejected("made"))?;
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).map_err(|_| rejected("read"))?;
    sqlx::query!(
        "insert into signing_keys (id, sealed, public_key) values ($1, $2, $3) on conflict do nothing",
        id.as_uuid(),
        master_key.seal(&owner(id), pkcs8.as_ref()),
        pair.public_key().as_ref(),
    )
    .execute(pool)
    .await?;
    // Another process may have been quicker.
    load(pool, master_key)
        .await?
        .ok_or_else(|| rejected("found"))
}

async fn load(pool: &PgPool, master_key: &MasterKey) -> Result<Option<SigningKey>, Error> {
    let row = sqlx::query!("select id, sealed from signing_keys")
        .fetch_optional(pool)
        .await?;
    row.map(|row| {
        let id = SigningKeyId::from(row.id);
        let pkcs8 = master_key.open(&owner(id), &row.sealed)?;
        let pair = Ed25519KeyPair::from_pkcs8(&pkcs8)
            .map_err(|_| Error::Unreadable(format!("the signing key {id} is damaged")))?;
        Ok(SigningKey { id, pair })
    })
    .transpose()
}

/// Seals the key with the current master key, if an older one has sealed it. Returns how many were sealed.
pub(crate) async fn anew(conn: &mut PgConnection, key: &MasterKey) -> Result<u64, Error> {
    let row = sqlx::query!(
        "select id, sealed from signing_keys where substr(sealed, 1, 4) <> $1 for no key update",
        key.mark(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else { return Ok(0) };
    let owner = owner(row.id.into());
    let opened = key.open(&owner, &row.sealed).map_err(|error: OpenError| {
        Error::Unreadable(format!("the signing key {}: {error}", row.id))
    })?;
    sqlx::query!(
        "update signing_keys set sealed = $2 where id = $1",
        row.id,
        key.seal(&owner, &opened),
    )
    .execute(conn)
    .await?;
    Ok(1)
}

#[cfg(test)]
mod tests {
    use domain::erasure::{CertifiedSubject, Counts, FORMAT, SubjectKind};

    use super::*;

    fn key() -> SigningKey {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new()).unwrap();
        SigningKey {
            id: Uuid::from_u128(1).into(),
            pair: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap(),
        }
    }

    fn certificate() -> Certificate {
        Certificate {
            format: FORMAT.into(),
            erasure_id: "e".into(),
            team_id: "t".into(),
            site_id: None,
            subject: CertifiedSubject {
                kind: SubjectKind::Author,
                salt: "00".into(),
                sha256: "11".into(),
            },
            requested_by: "command_line".into(),
            requested_at: "2026-01-31T04:31:07Z".into(),
            ended_at: "2026-01-31T04:31:09Z".into(),
            counts: Counts {
                items: 50_000,
                ..Counts::default()
            },
            items_digest: "22".into(),
        }
    }

    #[test]
    fn a_certificate_is_valid_with_its_key_and_unchanged_only() {
        let (key, other) = (key(), key());
        let signed = sign(&key, &certificate()).unwrap();
        let public = key.pair.public_key().as_ref();
        assert_eq!(verify(&signed, public), Ok(certificate()));
        assert_eq!(read(&signed), Some(certificate()));
        assert_eq!(
            verify(&signed, other.pair.public_key().as_ref()),
            Err(Invalid::Signature)
        );
        // Each character counts.
        for place in 0..signed.len() {
            let mut changed = signed.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(verify(&changed, public).is_err(), "{place}");
        }
        for malformed in ["", ".", "..", "a.b.c", &signed[..signed.len() - 10]] {
            assert!(verify(malformed, public).is_err(), "{malformed:?}");
        }
    }

    #[test]
    fn no_other_algorithm_is_taken() {
        let key = key();
        let signed = sign(&key, &certificate()).unwrap();
        let (_, rest) = signed.split_once('.').unwrap();
        let header = URL_SAFE_NO_PAD.encode(format!(
            r#"{{"alg":"none","kid":"{}"}}"#,
            Uuid::from_u128(1)
        ));
        assert_eq!(
            verify(&format!("{header}.{rest}"), key.pair.public_key().as_ref()),
            Err(Invalid::OtherAlgorithm)
        );
    }
}
