//! Running dead jobs again, in batches.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, QueryBuilder};

use super::{Filter, Place};
use crate::{JobId, clock};

/// A replay under way: dead jobs are enqueued again, the longest dead first: due at once, no attempt spent,
/// under new ids.
///
/// It goes once over what was dead when it began, by the database's clock, so a job that dies again meanwhile is
/// not replayed for ever. Every batch is one statement, which moves its jobs or does nothing: a replay may be
/// dropped or killed at any time, and another one goes on from there. Two at once share the work.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    filter: Filter<'a>,
    after: Option<Place>,
}

/// What a batch of a [`Replay`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// How many jobs were enqueued; none of those visited may have matched.
    pub replayed: u64,
    /// Whether nothing is left to visit.
    pub is_last: bool,
    /// Their queues, to [`wake`](crate::wake()) after the commit.
    pub queues: Vec<String>,
}

#[derive(sqlx::FromRow)]
struct Step {
    visited: i64,
    replayed: i64,
    queues: Vec<String>,
    died_at: DateTime<Utc>,
    id: JobId,
}

impl<'a> Replay<'a> {
    /// Begins: what is dead now and matches.
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
            after: None,
        })
    }

    /// What it replays.
    pub fn filter(&self) -> Filter<'a> {
        self.filter
    }

    /// Visits the next jobs in the order of their death, at most `limit`, and replays those that match. Costs in
    /// proportion to `limit`, however many dead jobs there are.
    pub async fn next(
        &mut self,
        conn: &mut PgConnection,
        limit: u32,
    ) -> Result<Batch, sqlx::Error> {
        let mut query = QueryBuilder::new("with visited as materialized (select id, died_at, true");
        self.filter.push_examined(&mut query);
        query.push(" as matches from queue.dead_jobs where true");
        self.filter.push_searched(&mut query);
        if let Some(after) = self.after {
            query.push(" and (died_at, id) > (");
            query.push_bind(after.died_at).push(", ");
            query.push_bind(after.id).push(")");
        }
        query
            .push(" order by died_at, id limit ")
            .push_bind(i64::from(limit));
        // By arrays, so that no plan reads the whole table.
        query.push(
            "),
             chosen as materialized (
                 select id
                   from queue.dead_jobs
                  where id = any (array(select id from visited where matches))
                    for update skip locked
             ),
             gone as (
                 delete from queue.dead_jobs where id = any (array(select id from chosen)) returning *
             ),
             replayed as (
                 insert into queue.jobs (queue, lane, payload, priority, max_attempts)
                 select queue, lane, payload, priority, max_attempts from gone order by died_at, id
                 returning queue
             )
             select (select count(*) from visited) as visited,
                    (select count(*) from replayed) as replayed,
                    array(select distinct queue from replayed) as queues,
                    died_at, id
               from visited
              order by died_at desc, id desc
              limit 1",
        );
        // Planned anew for each batch: a plan for any values would not know how near the end of the range is.
        let step: Option<Step> = query
            .build_query_as()
            .persistent(false)
            .fetch_optional(conn)
            .await?;
        let Some(step) = step else {
            return Ok(Batch {
                replayed: 0,
                is_last: true,
                queues: Vec::new(),
            });
        };
        self.after = Some(Place {
            died_at: step.died_at,
            id: step.id,
        });
        Ok(Batch {
            replayed: step.replayed.unsigned_abs(),
            is_last: step.visited < i64::from(limit),
            queues: step.queues,
        })
    }
}

/// Replays dead jobs that match, the longest dead first, at most `limit`, and returns how many. For many, or
/// to wake their workers, see [`Replay`].
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
