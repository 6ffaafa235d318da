//! How a run ends well.

use std::time::Duration;

use super::Effect;

/// How a run ended well: the job is finished, or runs again.
#[derive(Debug)]
pub enum Finish<E> {
    /// The job is finished.
    Done(E),
    /// The effect is applied, and the same job runs again, with the same payload.
    Again {
        /// Applied under the same fence as that of a finished job.
        effect: E,
        /// The delay from now.
        delay: Duration,
        /// Whether this run counts as an attempt. A charged `Again` in the last attempt applies its
        /// effect and ends the job in `dead_jobs`.
        charged: bool,
    },
}

/// What a handler may return: an [`Effect`], or a [`Finish`] around one.
pub trait IntoFinish {
    /// The effect inside.
    type Effect: Effect;

    /// Says how the run ended.
    fn into_finish(self) -> Finish<Self::Effect>;
}

impl<E: Effect> IntoFinish for E {
    type Effect = E;

    fn into_finish(self) -> Finish<E> {
        Finish::Done(self)
    }
}

impl<E: Effect> IntoFinish for Finish<E> {
    type Effect = E;

    fn into_finish(self) -> Finish<E> {
        self
    }
}
