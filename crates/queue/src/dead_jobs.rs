//! Dead jobs: list them, run them again, delete them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, Postgres, QueryBuilder};

use crate::{DeathCause, Group as LaneGroup, JobId, Lane, clock, enqueue::millis};

/// A job in `queue.dead_jobs`.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct DeadJobRecord {
    /// The id that it had as a job.
    pub id: JobId,
    /// Its queue.
    pub queue: String,
    /// Its group.
    #[sqlx(rename = "grp")]
    pub group: LaneGroup,
    /// Its lane.
    pub lane: Lane,
    /// Charged attempts.
    pub attempt: i16,
    /// How many attempts it had.
    pub max_attempts: i16,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// When it was moved to `dead_jobs`.
    pub died_at: DateTime<Utc>,
    /// Why it died.
    pub cause: DeathCause,
    /// The last error, at most 2 KB.
    pub error: String,
    /// Its arguments, as JSON.
    pub payload: String,
}

impl DeadJobRecord {
    /// Its place in the order of death.
    pub fn place(&self) -> Place {
        Place {
            died_at: self.died_at,
            id: self.id,
        }
    }
}

/// Selects dead jobs. A job must meet every given condition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// With one of these ids.
    pub ids: Option<&'a [JobId]>,
    /// Of this queue.
    pub queue: Option<&'a str>,
    /// Of this group of lanes.
    pub group: Option<LaneGroup>,
    /// Of this lane.
    pub lane: Option<Lane>,
    /// Dead for this reason.
    pub cause: Option<DeathCause>,
    /// With this text in their error.
    pub error: Option<&'a str>,
    /// Dead after this.
    pub after: Option<Place>,
    /// Dead before this.
    pub before: Option<Place>,
}

/// A place in the order of death. Jobs moved together died at the same time; their ids tell them
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When.
    pub died_at: DateTime<Utc>,
    /// Which of them.
    pub id: JobId,
}

impl Filter<'_> {
    fn push(&self, query: &mut QueryBuilder<Postgres>) {
        if let Some(ids) = self.ids {
            query.push(" and id = any (").push_bind(ids).push(")");
        }
        if let Some(queue) = self.queue {
            query.push(" and queue = ").push_bind(queue);
        }
        if let Some(group) = self.group {
            query.push(" and grp = ").push_bind(group);
        }
        if let Some(lane) = self.lane {
            query.push(" and lane = ").push_bind(lane);
        }
        if let Some(cause) = self.cause {
            query.push(" and cause = ").push_bind(cause.as_str());
        }
        if let Some(error) = self.error {
            query
                .push(" and strpos(error, ")
                .push_bind(error)
                .push(") > 0");
        }
        if let Some(after) = self.after {
            query.push(" and (died_at, id) > (");
            query.push_bind(after.died_at).push(", ");
            query.push_bind(after.id).push(")");
        }
        if let Some(before) = self.before {
            query.push(" and (died_at, id) < (");
            query.push_bind(before.died_at).push(", ");
            query.push_bind(before.id).push(")");
        }
    }
}

/// The dead jobs that match, the latest first, at most `limit`.
pub async fn list(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<DeadJobRecord>, sqlx::Error> {
    let mut query = QueryBuilder::new(
        "select id, queue, grp, lane, attempt, max_attempts, created_at, died_at, cause, error,
                payload::text as payload
           from queue.dead_jobs
          where true",
    );
    filter.push(&mut query);
    query
        .push(" order by died_at desc, id desc limit ")
        .push_bind(i64::from(limit))
        .build_query_as()
        .persistent(false)
        .fetch_all(conn)
        .await
}

/// How many dead jobs match. Takes time in proportion to them.
pub async fn count(conn: &mut PgConnection, filter: Filter<'_>) -> Result<u64, sqlx::Error> {
    let mut query = QueryBuilder::new("select count(*) from queue.dead_jobs where true");
    filter.push(&mut query);
    let count: i64 = query
        .build_query_scalar()
        .persistent(false)
        .fetch_one(conn)
        .await?;
    Ok(count.unsigned_abs())
}

/// Dead jobs with the same queue, cause and error.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Group {
    /// Their queue.
    pub queue: String,
    /// Why they died.
    pub cause: DeathCause,
    /// The error that they share.
    pub error: String,
    /// The number of jobs.
    pub jobs: i64,
    /// The number of lanes.
    pub lanes: i64,
    /// When the first of them was moved to `dead_jobs`.
    pub first_died_at: DateTime<Utc>,
    /// When the last of them was moved to `dead_jobs`.
    pub last_died_at: DateTime<Utc>,
}

/// The dead jobs that match by queue, cause and error, the largest group first, at most `limit`
/// groups. Takes time in proportion to the jobs, some seconds for a million.
pub async fn summary(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<Group>, sqlx::Error> {
    let mut query = QueryBuilder::new(
        "select queue, cause, error, count(*) as jobs, count(distinct lane) as lanes,
                min(died_at) as first_died_at, max(died_at) as last_died_at
           from queue.dead_jobs
          where true",
    );
    filter.push(&mut query);
    query
        .push(
            " group by queue, cause, error
              order by jobs desc, queue, cause, error
              limit ",
        )
        .push_bind(i64::from(limit))
        .build_query_as()
        .persistent(false)
        .fetch_all(conn)
        .await
}

/// Deletes jobs that have been dead for longer than `age`, the longest dead first, at most `limit`.
/// Returns how many. Call it until it returns 0.
pub async fn purge(conn: &mut PgConnection, age: Duration, limit: u32) -> Result<u64, sqlx::Error> {
    let purged = sqlx::query!(
        "delete from queue.dead_jobs
          where id in (select id
                         from queue.dead_jobs
                        where died_at < now() - $1::bigint * interval '1 millisecond'
                        order by died_at
                        limit $2
                          for update skip locked)",
        millis(age),
        i64::from(limit),
    )
    .execute(conn)
    .await?;
    Ok(purged.rows_affected())
}

/// A replay: dead jobs are enqueued again, the longest dead first. They are due at once, without a
/// charged attempt, under new ids.
///
/// It visits once what was dead when it began, by the database's clock, so a job that dies again in
/// the meantime is not replayed for ever. Every batch is one statement, which moves its jobs or
/// does nothing. So a replay may be dropped or killed at any time, and another one continues from
/// there. Two replays at once share the work.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    filter: Filter<'a>,
    after: Option<Place>,
}

/// What a batch of a [`Replay`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// How many jobs were enqueued. It can be 0 if none of the visited jobs matched.
    pub replayed: u64,
    /// Whether nothing is left to visit.
    pub is_last: bool,
    /// Their queues; call [`wake`](crate::wake()) with them after the commit.
    pub queues: Vec<String>,
}

impl<'a> Replay<'a> {
    /// Begins with all matching jobs that are dead now.
    pub async fn begin(conn: &mut PgConnection, filter: Filter<'a>) -> Result<Self, sqlx::Error> {
        let now = Place {
            died_at: clock::now(conn).await?,
            id: JobId(i64::MAX),
        };
        let before = filter.before.map_or(now, |before| before.min(now));
        Ok(Self {
            filter: Filter {
                before: Some(before),
                ..filter
            },
            after: filter.after,
        })
    }

    /// The jobs that it replays.
    pub fn filter(&self) -> Filter<'a> {
        self.filter
    }

    /// Where it is: everything up to here was visited. `None` if it visited nothing yet.
    pub fn place(&self) -> Option<Place> {
        self.after
    }

    /// Goes back to the beginning: jobs that another command had locked may be free by now.
    pub fn rewind(&mut self) {
        self.after = self.filter.after;
    }

    /// Visits the next jobs in the order of their death, at most `limit`, and replays those that
    /// match. The cost depends on `limit`, not on the number of dead jobs.
    pub async fn next(
        &mut self,
        conn: &mut PgConnection,
        limit: u32,
    ) -> Result<Batch, sqlx::Error> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        let (filter, after) = (self.filter, self.after);
        let visit = sqlx::query!(
            r#"select visited as "visited!", replayed as "replayed!", queues as "queues!", last_died_at, last_id as "last_id: JobId"
                 from queue.replay($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"#,
            filter.ids as Option<&[JobId]>,
            filter.queue,
            filter.group.map(|group| group.0),
            filter.lane.map(|lane| lane.0),
            filter.cause.map(DeathCause::as_str),
            filter.error,
            after.map(|place| place.died_at),
            after.map(|place| place.id.0),
            filter.before.map(|place| place.died_at),
            filter.before.map(|place| place.id.0),
            limit,
        )
        .fetch_one(conn)
        .await?;
        if let (Some(died_at), Some(id)) = (visit.last_died_at, visit.last_id) {
            self.after = Some(Place { died_at, id });
        }
        Ok(Batch {
            replayed: visit.replayed.unsigned_abs(),
            is_last: visit.visited < i64::from(limit),
            queues: visit.queues,
        })
    }
}
