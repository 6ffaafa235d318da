//! Many jobs to enqueue, in the columns of the statement.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::job::{NewJob, millis};

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

    /// The number of jobs for each queue, and whether any of them is due at once.
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
