//! Enqueues jobs: many at once, inside the caller's transaction.

use std::time::Duration;

use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Group, Lane, QueueName};

/// Charged attempts of a job that does not set another number.
pub const DEFAULT_MAX_ATTEMPTS: u16 = 25;

/// The longest payload, in bytes of JSON. Store larger data in a table of its own, and put its id
/// into the job: each step of a job reads and writes its payload again.
pub const MAX_PAYLOAD: usize = 256 * 1024;

/// The most jobs sent to the database at once.
const CHUNK: usize = 10_000;

/// Enqueues jobs in the caller's transaction, with one statement for every 10,000.
///
/// Call [`Queue::enqueued`](crate::Queue::enqueued) after the commit, so that workers start at
/// once. Otherwise they find the jobs when they poll.
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
    /// A job that is due at once, with priority 0 and [`DEFAULT_MAX_ATTEMPTS`], in a group of its
    /// own lane.
    ///
    /// If the payload cannot become JSON (a map with keys that are not strings), or is longer than
    /// [`MAX_PAYLOAD`], enqueueing fails.
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

    /// The owner of the lane, if one owner has several lanes.
    pub fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    /// The format that a worker must understand to run the job. A binary that does not know formats
    /// claims only jobs of format 0. So use another format for a payload that older binaries would
    /// misread.
    pub fn format(mut self, format: i16) -> Self {
        self.format = format;
        self
    }

    /// The job is due after this time, to the millisecond.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// A higher priority goes first within its lane. Lanes are served fairly, whatever their
    /// priorities.
    pub fn priority(mut self, priority: i16) -> Self {
        self.priority = priority;
        self
    }

    /// The number of attempts, at least one. More than 32,767 counts as 32,767.
    pub fn max_attempts(mut self, max_attempts: u16) -> Self {
        self.max_attempts = max_attempts;
        self
    }
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

/// Milliseconds for the database, at most a century. Beyond the range of a timestamp, the statement
/// would fail.
pub(crate) fn millis(duration: Duration) -> i64 {
    const CENTURY_MS: i64 = 100 * 366 * 24 * 3600 * 1000;
    i64::try_from(duration.as_millis()).map_or(CENTURY_MS, |ms| ms.min(CENTURY_MS))
}

/// Jobs to enqueue with one statement, in the columns of the statement.
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

/// The arguments of the SQL function `queue.enqueue`, in its order, for callers that enqueue within
/// a statement of their own.
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
    /// [`sqlx::Error::Encode`] if a payload could not become JSON or was too long.
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

    /// The queue of each job, and whether the job is due at once.
    pub(crate) fn due(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let jobs = self.queues.iter().zip(&self.delays_ms);
        jobs.map(|(&queue, &delay_ms)| (queue, delay_ms == 0))
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
