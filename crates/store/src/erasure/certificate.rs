//! Certificates of erasures: what was removed, when, and for whom, signed as a JSON web signature
//! (RFC 7515) in its compact form with Ed25519 (RFC 8037).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{erasure::Certificate, id::SigningKeyId};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::key::SigningKey;

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

#[cfg(test)]
mod tests {
    use domain::erasure::{CertifiedSubject, Counts, FORMAT, SubjectKind};
    use ring::signature::{Ed25519KeyPair, KeyPair as _};
    use uuid::Uuid;

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
