//! Live jobs: list those that wait, run, or are doomed.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::{Group, JobId, Lane, NewJobs};

/// The state of a live job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[repr(i16)]
pub enum State {
    /// Waits to be claimed.
    Due = 0,
    /// Claimed, started or not.
    Running = 1,
    /// Waits for its time, because it is delayed or is tried again.
    Scheduled = 2,
    /// Doomed: waits for the move to `dead_jobs`.
    Doomed = 3,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Due, Self::Running, Self::Scheduled, Self::Doomed];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Running => "running",
            Self::Scheduled => "scheduled",
            Self::Doomed => "doomed",
        }
    }
}

/// Selects live jobs. A job must meet every given condition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// With one of these ids.
    pub ids: Option<&'a [JobId]>,
    /// Of this queue.
    pub queue: Option<&'a str>,
    /// Of this group.
    pub group: Option<Group>,
    /// Of this lane.
    pub lane: Option<Lane>,
    /// In this state.
    pub state: Option<State>,
    /// With this text in their last error.
    pub error: Option<&'a str>,
}

/// A job in `queue.jobs`.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Live {
    /// Its id.
    pub id: JobId,
    /// Its queue.
    pub queue: String,
    /// Its group.
    #[sqlx(rename = "grp")]
    pub group: Group,
    /// Its lane.
    pub lane: Lane,
    /// Its state.
    pub state: State,
    /// Charged attempts, including that of a running job.
    pub attempt: i16,
    /// How many attempts it has.
    pub max_attempts: i16,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// When it is, or was, due.
    pub run_at: DateTime<Utc>,
    /// The worker that runs it.
    pub locked_by: Option<Uuid>,
    /// The last error, at most 2 KB.
    pub last_error: Option<String>,
    /// Its arguments, as JSON.
    pub payload: String,
}

/// The live jobs that match, the longest due first, at most `limit`.
///
/// With ids, the cost depends on the result. Otherwise, it takes time in proportion to the jobs, up
/// to a second for a million.
pub async fn list(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<Live>, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new(
        "select id, queue, grp, lane, state, attempt, max_attempts, created_at, run_at, locked_by,
                last_error, payload::text as payload
           from queue.jobs
          where true",
    );
    if let Some(ids) = filter.ids {
        query.push(" and id = any (").push_bind(ids).push(")");
    }
    if let Some(queue) = filter.queue {
        query.push(" and queue = ").push_bind(queue);
    }
    if let Some(group) = filter.group {
        query.push(" and grp = ").push_bind(group);
    }
    if let Some(lane) = filter.lane {
        query.push(" and lane = ").push_bind(lane);
    }
    if let Some(state) = filter.state {
        query.push(" and state = ").push_bind(state);
    }
    if let Some(error) = filter.error {
        query
            .push(" and strpos(last_error, ")
            .push_bind(error)
            .push(") > 0");
    }
    query
        .push(" order by run_at, id limit ")
        .push_bind(i64::from(limit))
        .build_query_as()
        // Planned with the actual values, because the partial indexes need them.
        .persistent(false)
        .fetch_all(conn)
        .await
}

/// Replaces the payloads of running jobs, in their order. Call it only from an effect of exactly
/// these jobs: then they are this worker's, and their rows are locked. The next run gets the new
/// payload.
///
/// # Errors
/// [`sqlx::Error::Encode`] if a payload could not become JSON or was too long.
pub async fn replace_payloads(
    conn: &mut PgConnection,
    jobs: &[JobId],
    with: &NewJobs,
) -> Result<(), sqlx::Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "update queue.jobs j
            set payload = n.payload::json
           from unnest($1::bigint[], $2::text[]) as n (id, payload)
          where j.id = n.id",
        jobs as &[JobId],
        with.columns()?.payloads,
    )
    .execute(conn)
    .await?;
    Ok(())
}
