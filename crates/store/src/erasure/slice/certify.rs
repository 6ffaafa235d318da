//! The end: the certificate is signed and stored, and the subject forgotten.

use chrono::{SecondsFormat, Utc};
use domain::{
    erasure::{Certificate, CertifiedSubject, FORMAT},
    id::{ErasureId, SiteId},
};
use sqlx::{PgConnection, PgPool};

use super::Standing;
use crate::{Error, encryption::MasterKey, erasure::certificate};

/// A certificate to store.
#[derive(Debug)]
pub(super) struct Certified(String);

pub(super) async fn certify(
    pool: &PgPool,
    master_key: &MasterKey,
    standing: &Standing,
) -> Result<Certified, Error> {
    let key = certificate::signing_key(pool, master_key).await?;
    let now = sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#)
        .fetch_one(pool)
        .await?;
    let time = |at: chrono::DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Micros, true);
    let certificate = Certificate {
        format: FORMAT.into(),
        erasure_id: standing.erasure.to_string(),
        team_id: standing.team.to_string(),
        site_id: standing.site.map(|site: SiteId| site.to_string()),
        subject: CertifiedSubject {
            kind: standing.subject.kind(),
            salt: hex::encode(&standing.salt),
            sha256: hex::encode(&standing.subject_sha256),
        },
        requested_by: standing
            .created_by
            .map_or_else(|| "command_line".into(), |by| by.to_string()),
        requested_at: time(standing.created_at),
        ended_at: time(now),
        counts: standing.counts,
        items_digest: hex::encode(standing.digest.as_bytes()),
    };
    let signed = certificate::sign(&key, &certificate)
        .map_err(|error| Error::Unreadable(format!("a certificate: {error}")))?;
    Ok(Certified(signed))
}

impl Certified {
    /// Stores it. What the erasure was about is forgotten.
    pub(super) async fn store(
        &self,
        conn: &mut PgConnection,
        erasure: ErasureId,
    ) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "update erasures set certificate = $2, subject = null where id = $1",
            erasure.as_uuid(),
            self.0,
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}
