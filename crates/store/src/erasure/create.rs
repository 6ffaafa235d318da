//! Starting an erasure, and continuing one that failed.

use std::borrow::Cow;

use domain::{
    actor::Actor,
    erasure::{MOST_RUNNING, Subject},
    id::{ErasureId, MediaId, SiteId, TeamId},
};
use queue::{NewJob, NewJobs};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::{Error, chain, jobs};

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
