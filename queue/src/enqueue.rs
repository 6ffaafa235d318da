//! Putting jobs into a queue: many at once, inside the caller's transaction.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Group, Lane, QueueName};

/// Charged attempts of a job that does not ask for another number.
pub const DEFAULT_MAX_ATTEMPTS: u16 = 25;

/// The longest payload, in bytes of JSON. What is larger belongs in a table of its own, and its id in the job: a
/// payload is read and written again with every step of its job.
pub const MAX_PAYLOAD: usize = 256 * 1024;

/// The most jobs sent to the database at once.
const CHUNK: usize = 10_000;

/// One job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    queue: QueueName,
    group: Group,
    lane: Lane,
    format: i16,
    payload: Result<String, String>,
    delay: Duration,
    priority: i16,
    max_attempts: u16,
}

impl NewJob {
    /// A job that is due at once, of priority 0, with [`DEFAULT_MAX_ATTEMPTS`], in a group of its lane's own.
    ///
    /// A payload that cannot become JSON (a map with keys that are not strings), or is longer than [`MAX_PAYLOAD`], makes
    /// the enqueueing fail.
    pub fn new(queue: QueueName, lane: Lane, payload: &impl Serialize) -> Self {
        Self {
            queue,
            group: Group(lane.0),
            lane,
            format: 0,
            payload: serialize(queue, payload),
            delay: Duration::ZERO,
            priority: 0,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
        }
    }

    /// Whose lane it is, if one owner has several.
    pub fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    /// What a worker must understand to run it. A binary that knows nothing of formats claims jobs of format 0 only, so give
    /// a payload that older binaries would misread another one.
    pub fn format(mut self, format: i16) -> Self {
        self.format = format;
        self
    }

    /// Due only after this long, to the millisecond.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Higher goes first within its lane; lanes are served fairly whatever their priorities.
    pub fn priority(mut self, priority: i16) -> Self {
        self.priority = priority;
        self
    }

    /// How often it may be tried, at least once; beyond 32,767 is 32,767.
    pub fn max_attempts(mut self, max_attempts: u16) -> Self {
        self.max_attempts = max_attempts;
        self
    }
}

/// Jobs to enqueue with one statement, kept in columns as the statement wants them.
#[derive(Clone, Debug, Default)]
pub struct NewJobs {
    queues: Vec<&'static str>,
    groups: Vec<Uuid>,
    lanes: Vec<Uuid>,
    payloads: Vec<String>,
    formats: Vec<i16>,
    priorities: Vec<i16>,
    delays_ms: Vec<i64>,
    max_attempts: Vec<i16>,
    /// Why one of them cannot be enqueued.
    refused: Option<String>,
}

/// The arguments of the SQL function `queue.enqueue`, in its order, for a caller that enqueues within a
/// statement of its own.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// `text[]`
    pub queues: &'a [&'static str],
    /// `uuid[]`
    pub groups: &'a [Uuid],
    /// `uuid[]`
    pub lanes: &'a [Uuid],
    /// `text[]`, each one JSON
    pub payloads: &'a [String],
    /// `smallint[]`
    pub formats: &'a [i16],
    /// `smallint[]`
    pub priorities: &'a [i16],
    /// `bigint[]`, milliseconds
    pub delays_ms: &'a [i64],
    /// `smallint[]`
    pub max_attempts: &'a [i16],
}

impl NewJobs {
    /// No jobs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a job.
    pub fn push(&mut self, job: NewJob) {
        let payload = match job.payload {
            Ok(payload) => payload,
            Err(error) => {
                self.refused = Some(error);
                return;
            }
        };
        self.queues.push(job.queue.as_str());
        self.groups.push(job.group.0);
        self.lanes.push(job.lane.0);
        self.payloads.push(payload);
        self.formats.push(job.format);
        self.priorities.push(job.priority);
        self.delays_ms.push(millis(job.delay));
        self.max_attempts
            .push(i16::try_from(job.max_attempts.max(1)).unwrap_or(i16::MAX));
    }

    /// Whether there is nothing to enqueue.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// How many jobs there are.
    pub fn len(&self) -> usize {
        self.queues.len()
    }

    /// The arrays to bind.
    ///
    /// # Errors
    /// [`sqlx::Error::Encode`] when the payload of a pushed job could not become JSON or was too long.
    pub fn columns(&self) -> Result<Columns<'_>, sqlx::Error> {
        if let Some(error) = &self.refused {
            return Err(sqlx::Error::Encode(error.clone().into()));
        }
        Ok(Columns {
            queues: &self.queues,
            groups: &self.groups,
            lanes: &self.lanes,
            payloads: &self.payloads,
            formats: &self.formats,
            priorities: &self.priorities,
            delays_ms: &self.delays_ms,
            max_attempts: &self.max_attempts,
        })
    }

    /// How many jobs for each queue, and whether any of them is due at once.
    pub(crate) fn per_queue(&self) -> BTreeMap<&'static str, (u64, bool)> {
        let mut queues = BTreeMap::new();
        for (&queue, &delay_ms) in self.queues.iter().zip(&self.delays_ms) {
            let (count, due) = queues.entry(queue).or_insert((0, false));
            *count += 1;
            *due |= delay_ms == 0;
        }
        queues
    }
}

impl Extend<NewJob> for NewJobs {
    fn extend<I: IntoIterator<Item = NewJob>>(&mut self, jobs: I) {
        for job in jobs {
            self.push(job);
        }
    }
}

impl FromIterator<NewJob> for NewJobs {
    fn from_iter<I: IntoIterator<Item = NewJob>>(jobs: I) -> Self {
        let mut all = Self::new();
        all.extend(jobs);
        all
    }
}

impl From<NewJob> for NewJobs {
    fn from(job: NewJob) -> Self {
        Self::from_iter([job])
    }
}

/// Enqueues jobs in the caller's transaction, with one statement for every 10,000.
///
/// After the commit call [`Queue::enqueued`](crate::Queue::enqueued), so that workers hear of them at once.
/// Without it they are found by the poll.
pub async fn enqueue(conn: &mut PgConnection, jobs: &NewJobs) -> Result<(), sqlx::Error> {
    let columns = jobs.columns()?;
    for start in (0..jobs.len()).step_by(CHUNK) {
        let chunk = start..jobs.len().min(start + CHUNK);
        sqlx::query!(
            "select queue.enqueue($1, $2, $3, $4, $5, $6, $7, $8)",
            &columns.queues[chunk.clone()] as &[&str],
            &columns.groups[chunk.clone()],
            &columns.lanes[chunk.clone()],
            &columns.payloads[chunk.clone()],
            &columns.formats[chunk.clone()],
            &columns.priorities[chunk.clone()],
            &columns.delays_ms[chunk.clone()],
            &columns.max_attempts[chunk],
        )
        .fetch_one(&mut *conn)
        .await?;
    }
    Ok(())
}

fn serialize(queue: QueueName, payload: &impl Serialize) -> Result<String, String> {
    let json = serde_json::to_string(payload)
        .map_err(|error| format!("the payload of a job for {queue} is not JSON: {error}"))?;
    if json.len() > MAX_PAYLOAD {
        return Err(format!(
            "the payload of a job for {queue} has {} bytes, more than {MAX_PAYLOAD}: store it, and enqueue its id",
            json.len()
        ));
    }
    Ok(json)
}

/// Milliseconds for the database, at most a century: beyond what a timestamp holds, the statement would fail.
pub(crate) fn millis(duration: Duration) -> i64 {
    const CENTURY_MS: i64 = 100 * 366 * 24 * 3600 * 1000;
    i64::try_from(duration.as_millis()).map_or(CENTURY_MS, |ms| ms.min(CENTURY_MS))
}
