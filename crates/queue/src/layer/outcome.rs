//! Turns the end of a run into an outcome.

use std::any::Any;

use apalis_core::error::{AbortError, BoxDynError, RetryAfterError};
use tower::timeout::error::Elapsed;

use crate::{
    DeathCause, Finish, IntoFinish,
    effect::AnyEffect,
    outcome::{Outcome, RetryReason, bounded},
    supervise::panic_text,
};

pub(super) fn finished<R: IntoFinish>(response: R) -> Outcome {
    Outcome::Finished(match response.into_finish() {
        Finish::Done(effect) => Finish::Done(AnyEffect::new(effect)),
        Finish::Again {
            effect,
            delay,
            charged,
        } => Finish::Again {
            effect: AnyEffect::new(effect),
            delay,
            charged,
        },
    })
}

pub(super) fn failed(error: &BoxDynError, is_outage: fn(&BoxDynError) -> bool) -> Outcome {
    if is_outage(error) {
        return Outcome::Postponed {
            error: bounded(error),
        };
    }
    if error.is::<AbortError>() {
        return Outcome::Dead {
            cause: DeathCause::Aborted,
            error: bounded(error),
        };
    }
    let reason = if error.is::<Elapsed>() {
        RetryReason::Timeout
    } else {
        RetryReason::Error
    };
    let delay = error
        .downcast_ref::<RetryAfterError>()
        .map(RetryAfterError::get_duration);
    Outcome::Failed {
        reason,
        error: bounded(error),
        delay,
    }
}

pub(super) fn panicked(panic: &(dyn Any + Send)) -> Outcome {
    let error = bounded(format_args!("panicked: {}", panic_text(panic)));
    Outcome::Failed {
        reason: RetryReason::Panic,
        error,
        delay: None,
    }
}
