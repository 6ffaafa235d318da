//! How a job is named (id, queue and lane), and what a handler can learn about the job that it
//! runs.

use std::{fmt, time::Duration};

use apalis_core::task::{Task, data::MissingDataError, from_request::FromRequest};
use uuid::Uuid;

/// A job's number, unique over all queues and never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct JobId(pub i64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The owner of the job. Claims are fair across the lanes of a queue, and caps and pauses apply to
/// lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Lane(pub Uuid);

/// The owner of several lanes. Claims are fair across the groups of a queue first, and then across
/// the lanes of a group. A group with the id of a lane has only that lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Group(pub Uuid);

/// The fixed name of a queue, stored with every job. Choose it once: after renaming, no worker
/// finds the stored jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName(&'static str);

impl QueueName {
    /// Names a queue. The name is also a metric label and part of a notification: 1 to 63
    /// characters of `a-z`, `0-9`, `_`, `-`, `.`.
    ///
    /// # Panics
    /// With any other name; in a constant, this is a compile error.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        assert!(
            !bytes.is_empty() && bytes.len() <= 63,
            "a queue's name has 1 to 63 characters"
        );
        let mut i = 0;
        while i < bytes.len() {
            assert!(
                matches!(bytes[i], b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.'),
                "a queue's name consists of a-z, 0-9, _, - and ."
            );
            i += 1;
        }
        Self(name)
    }

    /// The name as stored.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What a handler can learn about the current run. Take it as an additional argument of the
/// handler: `async fn analyse(args: Analyse, run: queue::Run) -> Result<..>`.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The job that runs.
    pub job: JobId,
    /// Its queue.
    pub queue: QueueName,
    /// Its group.
    pub group: Group,
    /// Its lane.
    pub lane: Lane,
    /// The number of this charged attempt, from 1.
    pub attempt: u16,
    /// How many charged attempts the job has. An `Err` from the last one ends it in `dead_jobs`.
    pub max_attempts: u16,
    /// How long it was due before it was claimed.
    pub waited: Duration,
}

impl Run {
    /// Whether an `Err`, or a charged `Again`, would now end the job.
    pub const fn is_last_attempt(&self) -> bool {
        self.attempt >= self.max_attempts
    }
}

impl<Args: Sync> FromRequest<Task<Args>> for Run {
    type Error = MissingDataError;

    async fn from_request(task: &Task<Args>) -> Result<Self, Self::Error> {
        task.data().get_checked().copied()
    }
}
