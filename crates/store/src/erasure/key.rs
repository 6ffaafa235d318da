//! The key that signs certificates: Ed25519, made when the first certificate needs it, and stored
//! sealed with the master key. The public key is stored beside it, so anyone with access to the
//! database can check certificates.

use domain::id::SigningKeyId;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{
    Error,
    encryption::{MasterKey, OpenError},
};

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
