//! One job to enqueue.

use std::time::Duration;

use serde::Serialize;

use crate::{Group, Lane, QueueName};

/// Charged attempts of a job that does not set another number.
pub const DEFAULT_MAX_ATTEMPTS: u16 = 25;

/// The longest payload, in bytes of JSON. Store larger data in a table of its own, and put its id
/// into the job: each step of a job reads and writes its payload again.
pub const MAX_PAYLOAD: usize = 256 * 1024;

/// One job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub(super) queue: QueueName,
    pub(super) group: Group,
    pub(super) lane: Lane,
    pub(super) format: i16,
    pub(super) payload: Result<String, String>,
    pub(super) delay: Duration,
    pub(super) priority: i16,
    pub(super) max_attempts: u16,
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
