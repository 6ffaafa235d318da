//! Where an erasure stands.

use chrono::{DateTime, Utc};
use domain::{
    author::Author,
    erasure::{Counts, ItemsDigest, Subject},
    id::{ActorId, ErasureId, SiteId, TeamId},
};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use crate::{Error, id_time::ids_within};

/// What an erasure does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It empties items.
    Remove,
    /// It removes their events, and what was added to them meanwhile.
    Again,
    /// It makes the certificate.
    Certify,
}

pub(super) struct Standing {
    pub(super) erasure: ErasureId,
    pub(super) team: TeamId,
    pub(super) site: Option<SiteId>,
    pub(super) subject: Subject,
    pub(super) salt: Vec<u8>,
    pub(super) subject_sha256: Vec<u8>,
    pub(super) walked_to: i64,
    pub(super) phase: Phase,
    pub(super) walk_site: Option<Uuid>,
    pub(super) walk_item: Option<Uuid>,
    pub(super) is_settled: bool,
    pub(super) settled_at: Option<DateTime<Utc>>,
    pub(super) events_site: Option<Uuid>,
    pub(super) events_to: Option<Uuid>,
    pub(super) counts: Counts,
    pub(super) digest: ItemsDigest,
    pub(super) created_by: Option<ActorId>,
    pub(super) created_at: DateTime<Utc>,
}

impl Standing {
    /// Items with smaller ids were accepted before the erasure was asked for, and some others.
    pub(super) fn before(&self) -> Uuid {
        ids_within(None, Some(self.created_at)).1
    }

    /// The author whose items they are, if they were chosen so.
    pub(super) fn author(&self) -> Option<Author> {
        match &self.subject {
            Subject::Author(author) => Some(author.clone()),
            _ => None,
        }
    }
}

pub(super) async fn standing(pool: &PgPool, erasure: ErasureId) -> Result<Option<Standing>, Error> {
    let row = sqlx::query!(
        r#"
        select
            team_id, site_id, subject as "subject: Json<Subject>", salt, subject_sha256, walked_to, phase, walk_site, walk_item,
            pg_snapshot_xmin(pg_current_snapshot()) > again_after as is_settled, settled_at, events_site, events_to,
            counts as "counts: Json<Counts>", items_digest, created_by, created_at
        from erasures
        where id = $1 and state = 'running'
        "#,
        erasure.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        let unreadable = |what| Error::Unreadable(format!("an erasure without {what}"));
        Ok(Standing {
            erasure,
            team: row.team_id.into(),
            site: row.site_id.map(SiteId::from),
            subject: row.subject.ok_or_else(|| unreadable("a subject"))?.0,
            salt: row.salt,
            subject_sha256: row.subject_sha256,
            walked_to: row.walked_to,
            phase: match row.phase.as_str() {
                "remove" => Phase::Remove,
                "again" => Phase::Again,
                "certify" => Phase::Certify,
                _ => return Err(unreadable("a known phase")),
            },
            walk_site: row.walk_site,
            walk_item: row.walk_item,
            is_settled: row.is_settled == Some(true),
            settled_at: row.settled_at,
            events_site: row.events_site,
            events_to: row.events_to,
            counts: row.counts.0,
            digest: digest(row.items_digest)?,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
        })
    })
    .transpose()
}

fn digest(bytes: Vec<u8>) -> Result<ItemsDigest, sqlx::Error> {
    let bytes = <[u8; 32]>::try_from(bytes);
    let bytes = bytes.map_err(|_| sqlx::Error::Decode("a digest has 32 bytes".into()))?;
    Ok(bytes.into())
}

/// What was removed so far. The row is locked by the slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    pub(super) digest: ItemsDigest,
}

impl Tally {
    pub(super) async fn load(
        conn: &mut PgConnection,
        erasure: ErasureId,
    ) -> Result<Self, sqlx::Error> {
        let row = sqlx::query!(
            r#"select counts as "counts: Json<Counts>", items_digest from erasures where id = $1"#,
            erasure.as_uuid(),
        )
        .fetch_one(conn)
        .await?;
        Ok(Self {
            counts: row.counts.0,
            digest: digest(row.items_digest)?,
        })
    }

    pub(super) async fn store(
        &self,
        conn: &mut PgConnection,
        erasure: ErasureId,
    ) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "update erasures set counts = $2, items_digest = $3 where id = $1",
            erasure.as_uuid(),
            Json(self.counts) as Json<Counts>,
            &self.digest.as_bytes()[..],
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}
