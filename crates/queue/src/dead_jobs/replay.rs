//! Running dead jobs again, in batches.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::{Filter, Place};
use crate::{DeathCause, JobId, clock};

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

/// The answer of `queue.replay`.
struct Visit {
    visited: i64,
    replayed: i64,
    queues: Vec<String>,
    last_died_at: Option<DateTime<Utc>>,
    last_id: Option<JobId>,
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
        let visit = visit(conn, self.filter, self.after, limit).await?;
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

async fn visit(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    after: Option<Place>,
    limit: i32,
) -> Result<Visit, sqlx::Error> {
    sqlx::query_as!(
        Visit,
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
    .await
}

/// Replays matching dead jobs, the longest dead first, at most `limit`, and returns how many. For
/// many jobs, or to wake their workers, use [`Replay`].
pub async fn replay(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<u64, sqlx::Error> {
    let mut replay = Replay::begin(conn, filter).await?;
    let mut replayed = 0;
    let mut room = limit;
    while room > 0 {
        let batch = replay.next(conn, room).await?;
        replayed += batch.replayed;
        room -= u32::try_from(batch.replayed).unwrap_or(room);
        if batch.is_last {
            break;
        }
    }
    Ok(replayed)
}
