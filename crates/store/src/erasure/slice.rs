//! A slice of an erasure: what comes next, and the effect of having done it.

mod certify;
mod events;
mod next_items;
mod remove;

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    author::Author,
    erasure::{Counts, ItemsDigest, Subject},
    id::{ActorId, ErasureId, SiteId, TeamId},
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use self::{certify::Certified, events::Walked, next_items::Looked, remove::Removal};
use super::Erasure;
use crate::{
    Error,
    chain::{self, End, Next, Step},
    encryption::MasterKey,
    id_time::ids_within,
    jobs,
};

/// Items of a slice. They are locked for some tens of milliseconds.
pub const SLICE: i64 = 500;

/// The pause before looking again whether older transactions have ended, or whether others have let go of items.
const PAUSE: Duration = Duration::from_millis(200);

/// The next slice, and with it the effect of erasing what is in it.
#[derive(Debug)]
pub struct Slice {
    erasure: ErasureId,
    team: TeamId,
    /// How many slices were done before.
    from: i64,
    task: Task,
}

#[derive(Debug)]
enum Task {
    /// Empty these items of a site.
    Remove(Removal),
    /// There is no other site: the second phase begins.
    Settle,
    /// Remove events of these items.
    Events(Walked),
    /// All events are gone: remove again what belongs to these items.
    Again(Vec<Uuid>),
    /// There are no more of them: the certificate is made.
    Close,
    /// Store the certificate.
    Certify(Certified),
}

/// Loads the next slice. It waits for transactions that began before the first phase ended.
pub async fn next(
    pool: &PgPool,
    master_key: &MasterKey,
    erasure: ErasureId,
) -> Result<Next<Box<Slice>>, Error> {
    let Some(standing) = standing(pool, erasure).await? else {
        return Ok(Next::Nothing);
    };
    let mut conn = pool.acquire().await?;
    let task = match standing.phase {
        Phase::Remove => match next_items::place(&mut conn, &standing).await? {
            None => Task::Settle,
            Some(place) => {
                let Looked { items, to } = next_items::items(&mut conn, &standing, place).await?;
                Task::Remove(Removal {
                    site: place.site,
                    author: standing.author(),
                    items,
                    to,
                })
            }
        },
        Phase::Again if !standing.is_settled => return Ok(Next::Later(PAUSE)),
        Phase::Again => match events::next(&mut conn, &standing).await? {
            Some(walked) => Task::Events(walked),
            None => match items(&mut conn, erasure).await? {
                items if items.is_empty() => Task::Close,
                items => Task::Again(items),
            },
        },
        Phase::Certify => {
            drop(conn);
            Task::Certify(certify::certify(pool, master_key, &standing).await?)
        }
    };
    Ok(Next::Slice(Box::new(Slice {
        erasure,
        team: standing.team,
        from: standing.walked_to,
        task,
    })))
}

/// Where a walk is: after an item of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    site: SiteId,
    after: Uuid,
}

impl Effect for Box<Slice> {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect: slice, .. } in batch {
            let is_last = matches!(slice.task, Task::Certify(_));
            let step = Step {
                from: slice.from,
                to: slice.from + 1,
                end: End::of(is_last),
            };
            if !chain::advance::<Erasure>(tx.conn, slice.erasure.as_uuid(), step).await? {
                continue;
            }
            let mut next = jobs::erase(slice.erasure, slice.team);
            match &slice.task {
                Task::Remove(removal) => {
                    if removal.apply(tx.conn, slice.erasure).await? {
                        next = next.delay(PAUSE);
                    }
                }
                Task::Settle => settle(tx.conn, slice.erasure).await?,
                Task::Events(walked) => walked.apply(tx.conn, slice.erasure).await?,
                Task::Again(items) => remove(tx.conn, slice.erasure, items).await?,
                Task::Close => close(tx.conn, slice.erasure).await?,
                Task::Certify(certified) => {
                    certified.store(tx.conn, slice.erasure).await?;
                    continue;
                }
            }
            tx.jobs.push(next);
        }
        Ok(())
    }
}

/// What an erasure does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It empties items.
    Remove,
    /// It removes their events, and what was added to them meanwhile.
    Again,
    /// It makes the certificate.
    Certify,
}

struct Standing {
    erasure: ErasureId,
    team: TeamId,
    site: Option<SiteId>,
    subject: Subject,
    salt: Vec<u8>,
    subject_sha256: Vec<u8>,
    walked_to: i64,
    phase: Phase,
    walk_site: Option<Uuid>,
    walk_item: Option<Uuid>,
    is_settled: bool,
    settled_at: Option<DateTime<Utc>>,
    events_site: Option<Uuid>,
    events_to: Option<Uuid>,
    counts: Counts,
    digest: ItemsDigest,
    created_by: Option<ActorId>,
    created_at: DateTime<Utc>,
}

impl Standing {
    /// Items with smaller ids were accepted before the erasure was asked for, and some others.
    fn before(&self) -> Uuid {
        ids_within(None, Some(self.created_at)).1
    }

    /// The author whose items they are, if they were chosen so.
    fn author(&self) -> Option<Author> {
        match &self.subject {
            Subject::Author(author) => Some(author.clone()),
            _ => None,
        }
    }
}

async fn standing(pool: &PgPool, erasure: ErasureId) -> Result<Option<Standing>, Error> {
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
struct Tally {
    counts: Counts,
    digest: ItemsDigest,
}

impl Tally {
    async fn load(conn: &mut PgConnection, erasure: ErasureId) -> Result<Self, sqlx::Error> {
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

    async fn store(&self, conn: &mut PgConnection, erasure: ErasureId) -> Result<(), sqlx::Error> {
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

/// Some items of which the first phase is done.
async fn items(conn: &mut PgConnection, erasure: ErasureId) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "select media_id from erased_items where erasure_id = $1 order by media_id limit $2",
        erasure.as_uuid(),
        SLICE,
    )
    .fetch_all(conn)
    .await
}

/// Ends the first phase. The second one waits for the transactions that run now.
async fn settle(conn: &mut PgConnection, erasure: ErasureId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update erasures set phase = 'again', again_after = pg_current_xact_id(), settled_at = clock_timestamp() where id = $1",
        erasure.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends the second phase.
async fn close(conn: &mut PgConnection, erasure: ErasureId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update erasures set phase = 'certify' where id = $1",
        erasure.as_uuid()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// What work may have added that had begun before. `$1` are the ids of items.
const ADDED: [&str; 6] = [
    "delete from media_images where media_id = any($1)",
    "delete from analyses where media_id = any($1)",
    "delete from analysis_parts where media_id = any($1)",
    "delete from analysis_image_parts where media_id = any($1)",
    "delete from analysis_pieces where media_id = any($1)",
    "delete from image_matches where media_id = any($1)",
];

async fn remove(
    conn: &mut PgConnection,
    erasure: ErasureId,
    items: &[Uuid],
) -> Result<(), sqlx::Error> {
    for statement in ADDED {
        sqlx::query(statement)
            .bind(items)
            .execute(&mut *conn)
            .await?;
    }
    sqlx::query!(
        "delete from media where id = any($1) and verdict is null and erased_at is not null",
        items,
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from erased_items where erasure_id = $1 and media_id = any($2)",
        erasure.as_uuid(),
        items,
    )
    .execute(conn)
    .await?;
    Ok(())
}
