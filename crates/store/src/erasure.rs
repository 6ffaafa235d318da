//! Erasures: everything that is stored about some items is removed, slice by slice ([`slice`]), by
//! jobs of a queue of its own. What is left of an item is a tombstone: its ids, times and verdict. An
//! item without a verdict goes altogether.
//!
//! An erasure has three phases. First each slice of items is emptied. Work on these items that is on
//! its way finds nothing from then on, and what it brings is dropped. But a transaction that had begun
//! before may still add something. So the second phase begins when all of these have ended, and removes
//! everything again, this time with the events. At the end, a certificate is signed
//! ([`certificate`]).

pub mod certificate;
pub mod search;
pub mod slice;

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    chain::State,
    erasure::{Counts, MOST_RUNNING, Subject, SubjectKind},
    event::{iso8601, iso8601_or_null},
    id::{ActorId, ErasureId, MediaId, SiteId, TeamId},
    reach::Reach,
};
use queue::{NewJob, NewJobs, QueueName};
use serde::Serialize;
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

pub(crate) use self::certificate::anew as key_anew;
pub use self::certificate::{PublicKey, made_public_key, public_key};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, ErasureJob},
    page::Page,
};

/// An erasure, and how far it has got. The audit log shows it as the management interface does, but
/// without its certificate. It does not tell which items it is about, because that may name a person.
#[derive(Clone, Debug, Serialize)]
pub struct Erasure {
    /// The erasure.
    pub id: ErasureId,
    /// Its team.
    #[serde(skip)]
    pub team: TeamId,
    /// The site whose items they are; none: of all sites of the team.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// How the items were chosen.
    pub kind: SubjectKind,
    /// How far it is.
    pub state: State,
    /// What was removed so far.
    pub counts: Counts,
    /// The certificate, a JSON web signature in its compact form; none before the end.
    #[serde(skip)]
    pub certificate: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// Who asked for it; none for the command line.
    pub created_by: Option<ActorId>,
    /// When it was asked for.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Erasure {
    const TABLE: &'static str = "erasures";
    const QUEUE: QueueName = jobs::ERASURES;
    /// How many slices were done.
    type Place = i64;
    type Job = ErasureJob;

    fn row(job: &ErasureJob) -> Uuid {
        job.erasure.as_uuid()
    }
}

/// Forgets erasures that ended long ago, with their certificates, and says how many. One that failed
/// is not forgotten: it is to be resumed.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let forgotten = sqlx::query!(
        "delete from erasures where state = 'finished' and ended_at <= now() - $1 * interval '1 second'",
        chain::KEPT.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}

/// An erasure to run.
#[derive(Clone, Copy, Debug)]
pub struct NewErasure<'a> {
    /// Of items of this team,
    pub team: TeamId,
    /// and only of this site of it.
    pub site: Option<SiteId>,
    /// Which of them.
    pub subject: &'a Subject,
    /// Who asks for it.
    pub by: Actor,
}

/// Creates an erasure with its first job. Tell the queue of the job after the commit. None: the team
/// has too many that have not ended.
pub async fn create(
    conn: &mut PgConnection,
    new: NewErasure<'_>,
) -> Result<Option<(ErasureId, NewJobs)>, Error> {
    let Some((id, job)) = insert(conn, new).await? else {
        return Ok(None);
    };
    let jobs = chain::begin(conn, job).await?;
    Ok(Some((id, jobs)))
}

/// Creates an erasure, and returns its first job, which is to be enqueued in the same transaction.
/// None: as for [`create`].
pub(crate) async fn insert(
    conn: &mut PgConnection,
    new: NewErasure<'_>,
) -> Result<Option<(ErasureId, NewJob)>, sqlx::Error> {
    // Two of them cannot both count what was there before.
    sqlx::query!(
        "select from teams where id = $1 for no key update",
        new.team.as_uuid()
    )
    .execute(&mut *conn)
    .await?;
    let running = sqlx::query_scalar!(
        r#"select count(*) as "running!" from erasures where team_id = $1 and state = 'running'"#,
        new.team.as_uuid(),
    )
    .fetch_one(&mut *conn)
    .await?;
    if running >= MOST_RUNNING {
        return Ok(None);
    }
    let id = ErasureId::from(Uuid::now_v7());
    let salt: [u8; 16] = rand::random();
    let subject = known(conn, new.team, new.subject).await?;
    sqlx::query!(
        "
        insert into erasures (id, team_id, site_id, kind, subject, salt, created_by, subject_sha256)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        ",
        id.as_uuid(),
        new.team.as_uuid(),
        new.site.map(SiteId::as_uuid),
        new.subject.kind().as_str(),
        Json(&*subject) as Json<&Subject>,
        &salt,
        new.by.as_uuid(),
        &new.subject.digest(&salt),
    )
    .execute(&mut *conn)
    .await?;
    Ok(Some((id, jobs::erase(id, new.team))))
}

/// Without the ids of items that are not the team's: what belongs to others is not written down.
async fn known<'a>(
    conn: &mut PgConnection,
    team: TeamId,
    subject: &'a Subject,
) -> Result<Cow<'a, Subject>, sqlx::Error> {
    let Subject::MediaIds(ids) = subject else {
        return Ok(Cow::Borrowed(subject));
    };
    let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
    let known = sqlx::query_scalar!(
        "select id from media where id = any($1) and team_id = $2",
        &ids,
        team.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let known = known.into_iter().map(MediaId::from).collect();
    Ok(Cow::Owned(Subject::MediaIds(known)))
}

/// Continues an erasure that failed, where it was. None: it did not fail.
pub async fn resume(conn: &mut PgConnection, erasure: ErasureId) -> Result<Option<NewJobs>, Error> {
    let team = sqlx::query_scalar!(
        "
        update erasures set state = 'running', ended_at = null, error = null
        where id = $1 and state = 'failed'
        returning team_id
        ",
        erasure.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(team) = team else { return Ok(None) };
    Ok(Some(
        chain::begin(conn, jobs::erase(erasure, team.into())).await?,
    ))
}

/// The erasures that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            r#"
        select
            id, team_id, site_id, kind, state, counts as "counts: Json<Counts>", certificate, error, created_by, created_at, ended_at
        from erasures
        where "#
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            Ok(Erasure {
                id: row.id.into(),
                team: row.team_id.into(),
                site: row.site_id.map(SiteId::from),
                kind: row.kind.parse()?,
                state: row.state.parse()?,
                counts: row.counts.0,
                certificate: row.certificate,
                error: row.error,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
                ended_at: row.ended_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// An erasure; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    erasure: ErasureId,
) -> Result<Option<Erasure>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        erasure.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// Erasures within reach, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<Erasure>, Error> {
    select!(
        conn,
        "($1::uuid is null or team_id = $1) and ($2::uuid is null or id < $2)
        order by id desc
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    )
}
