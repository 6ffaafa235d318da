//! The protocol between the benchmark and its drivers, the processes in which the queues run: one
//! line of JSON in each direction. Our driver and those of the peers (`bench/peers/*.mjs`) speak
//! the same protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line to a driver. Each is answered by one [`Answer`], except [`Request::Add`].
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Enqueue jobs one by one, with a commit each, from several tasks at once.
    Enqueue { jobs: u64, tasks: u64 },
    /// Enqueue many at once, spread over lanes where there are any; due after `delay_s` seconds.
    Bulk { jobs: u64, lanes: u64, delay_s: u64 },
    /// Start to work.
    Work(Work),
    /// Answer when this number of jobs has started since the driver was started.
    Await { ran: u64 },
    /// How many jobs have started.
    Ran,
    /// The waits of jobs with a due time, in microseconds, since the last answer.
    Latencies,
    /// Enqueue one job that was due at this time of [`crate::clock`]. If it is urgent, it goes
    /// ahead of a backlog, if the queue supports that. Not answered.
    Add { due: u64, lane: u64, urgent: bool },
    /// Answer when all of these are enqueued.
    Settle,
    /// Enqueue at a steady rate until [`Request::Stop`], in the background.
    Produce(Production),
    /// The claims, waits and jobs done since the last question, as [`Progress`].
    Progress,
    /// Stop working or producing, and finish what was begun.
    Stop,
}

/// How our driver works; the peers' have settings of their own.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Work {
    /// Jobs that run at once.
    pub(crate) concurrency: usize,
    /// Jobs claimed ahead.
    pub(crate) prefetch: usize,
    /// How long a job takes, in milliseconds.
    pub(crate) job_ms: u64,
    /// Whether a finished job leaves a row in `effects`.
    pub(crate) effects: bool,
    /// Loops at once, of the queue written by hand.
    pub(crate) loops: usize,
}

impl Work {
    /// No-op jobs as fast as they go.
    pub(crate) const FULL_SPEED: Self = Self {
        concurrency: 1_000,
        prefetch: 2_000,
        job_ms: 0,
        effects: false,
        loops: 1,
    };

    /// No-op jobs while newcomers matter, with the defaults of our workers.
    pub(crate) const BALANCED: Self = Self {
        concurrency: 64,
        prefetch: 64,
        ..Self::FULL_SPEED
    };
}

/// A steady stream of jobs.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Production {
    /// Jobs a second.
    pub(crate) rate: u64,
    pub(crate) lanes: u64,
    /// One of so many fails at its first attempt.
    pub(crate) failing: u64,
}

/// What our driver has done since it was last asked.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Progress {
    /// Jobs enqueued since the driver was started.
    pub(crate) enqueued: u64,
    /// Jobs done since the driver was started.
    pub(crate) done: u64,
    /// Microseconds of each claim.
    pub(crate) claims_us: Vec<u64>,
    /// Microseconds that each started job had been due.
    pub(crate) waits_us: Vec<u64>,
}

/// One line from a driver. The first line comes without a request and describes the driver:
/// [`About`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Ok(Value),
    Error(String),
}

/// What runs in a driver, for the report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct About {
    pub(crate) version: String,
    pub(crate) settings: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_are_lines_that_other_languages_can_write() {
        let add: Request = serde_json::from_str(r#"{"do":"add","due":7,"lane":1,"urgent":true}"#)
            .expect("a request");
        assert!(matches!(
            add,
            Request::Add {
                due: 7,
                lane: 1,
                urgent: true
            }
        ));
        let work = serde_json::to_string(&Request::Work(Work::FULL_SPEED)).expect("a line");
        assert!(
            work.starts_with(r#"{"do":"work","concurrency":1000"#),
            "{work}"
        );
        let answer: Answer = serde_json::from_str(r#"{"error":"no"}"#).expect("an answer");
        assert!(matches!(answer, Answer::Error(text) if text == "no"));
    }
}
