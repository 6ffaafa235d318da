//! How a claimed job ended, and what happens to its row because of that.

use std::{sync::Arc, time::Duration};

use database::Absence;
use tokio::sync::oneshot;

use crate::{
    DeathCause, Finish, Retry,
    effect::AnyEffect,
    enqueue::millis,
    in_flight::{InFlightJob, WritePermit},
};

/// A claimed job on its way to the finisher: it ended, or reached a checkpoint.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Dropped once the outcome is in the database.
    pub(crate) in_flight: Arc<InFlightJob>,
    pub(crate) outcome: Outcome,
}

/// How a claimed job ended, or how far it has come.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Its handler returned.
    Finished(Finish<AnyEffect>),
    /// Its run failed. It is tried again later, or is dead if this was the last attempt.
    Failed {
        reason: RetryReason,
        error: String,
        delay: Option<Duration>,
    },
    /// Its run failed, but not because of the job: again some seconds later, uncharged.
    Postponed { error: String },
    /// It cannot succeed.
    Dead { cause: DeathCause, error: String },
    /// It was not run, or not to its end, for our own reasons: due again, uncharged.
    Released,
    /// It records something, and goes on.
    Checkpoint { effect: AnyEffect, answer: Answer },
}

/// Why a job is tried again; a metric label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryReason {
    Error,
    Timeout,
    Panic,
    Effect,
    Outage,
}

impl Absence for RetryReason {
    fn is_absence(&self) -> bool {
        *self == Self::Outage
    }
}

impl RetryReason {
    pub(crate) const ALL: [Self; 5] = [
        Self::Error,
        Self::Timeout,
        Self::Panic,
        Self::Effect,
        Self::Outage,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Panic => "panic",
            Self::Effect => "effect",
            Self::Outage => "outage",
        }
    }
}

/// What happens to the row of a job that this worker still owns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Disposition<'a> {
    /// Finished.
    Delete,
    /// Due as before the claim, uncharged.
    Release,
    /// Runs again after this many milliseconds.
    Schedule {
        delay_ms: i64,
        charged: bool,
        error: Option<&'a str>,
    },
    /// Stays as it is, under the next fence.
    GoOn,
    /// Doomed: waits for the move to `dead_jobs`.
    Doom { cause: DeathCause, error: &'a str },
}

impl Ended {
    pub(crate) fn disposition(&self) -> Disposition<'_> {
        let run = &self.in_flight.run;
        match &self.outcome {
            Outcome::Finished(Finish::Done(_)) => Disposition::Delete,
            Outcome::Finished(Finish::Again { charged: true, .. }) if run.is_last_attempt() => {
                let error = "asked for another run in its last attempt";
                Disposition::Doom {
                    cause: DeathCause::Exhausted,
                    error,
                }
            }
            Outcome::Finished(Finish::Again { delay, charged, .. }) => Disposition::Schedule {
                delay_ms: millis(*delay),
                charged: *charged,
                error: None,
            },
            Outcome::Failed { error, .. } if run.is_last_attempt() => Disposition::Doom {
                cause: DeathCause::Exhausted,
                error,
            },
            Outcome::Failed { error, delay, .. } => {
                let delay = delay.unwrap_or_else(|| self.in_flight.retry.delay(run.attempt));
                Disposition::Schedule {
                    delay_ms: millis(delay),
                    charged: true,
                    error: Some(error),
                }
            }
            Outcome::Postponed { error } => Disposition::Schedule {
                delay_ms: millis(Retry::POSTPONED.delay(1)),
                charged: false,
                error: Some(error),
            },
            Outcome::Dead { cause, error } => Disposition::Doom {
                cause: *cause,
                error,
            },
            Outcome::Released => Disposition::Release,
            Outcome::Checkpoint { .. } => Disposition::GoOn,
        }
    }

    pub(crate) fn effect(&self) -> Option<&AnyEffect> {
        match &self.outcome {
            Outcome::Finished(Finish::Done(effect) | Finish::Again { effect, .. })
            | Outcome::Checkpoint { effect, .. } => Some(effect),
            Outcome::Failed { .. }
            | Outcome::Postponed { .. }
            | Outcome::Dead { .. }
            | Outcome::Released => None,
        }
    }
}

/// Why a checkpoint was not recorded. A handler can simply return it as its `Err`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRecorded {
    /// Another worker has the job now, or its run is over. Stop: the result of this run will be
    /// refused.
    #[error("this worker no longer has the job; the checkpoint was refused")]
    NoLongerOurs,
    /// The effect failed by itself, and nothing of it was written. The job is still this worker's.
    #[error("the effect of a checkpoint failed: {0}")]
    EffectFailed(String),
}

/// The answer to a checkpoint: the finisher gives it, and the run waits for it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) sender: oneshot::Sender<Result<(), NotRecorded>>,
    pub(crate) permit: WritePermit,
}

impl Answer {
    pub(crate) fn recorded(self) {
        self.permit.advance();
        self.give(Ok(()));
    }

    pub(crate) fn refused(self) {
        self.give(Err(NotRecorded::NoLongerOurs));
    }

    pub(crate) fn failed(self, error: String) {
        self.give(Err(NotRecorded::EffectFailed(error)));
    }

    fn give(self, answer: Result<(), NotRecorded>) {
        // The run may have timed out in the meantime. Then nobody waits for the answer.
        let _ = self.sender.send(answer);
    }
}

/// The longest error kept with a job, in bytes.
const ERROR_LIMIT: usize = 2048;

/// Makes an error's text fit for storage: limited, and without NUL, which Postgres refuses. A
/// refused text would fail the whole transaction.
pub(crate) fn bounded(error: impl std::fmt::Display) -> String {
    let mut text = error.to_string().replace('\0', "\u{fffd}");
    if text.len() > ERROR_LIMIT {
        text.truncate(text.floor_char_boundary(ERROR_LIMIT));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_cut_at_a_character_and_never_holds_a_nul() {
        let long = bounded(format!("\0{}", "é".repeat(2000)));
        assert!(long.len() <= ERROR_LIMIT && long.len() > ERROR_LIMIT - 4);
        assert!(!long.contains('\0'));
    }
}
