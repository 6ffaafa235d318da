//! How long the jobs of this service may take, and when they are tried again. The retries of webhooks are in [`domain::webhook`].

use std::time::Duration;

use queue::{Finish, Retry};

/// How long one run of a job may take. A delivery has a shorter deadline of its own.
pub(crate) const RUN_DEADLINE: Duration = Duration::from_mins(1);

/// Delays after failed analyses and judgements. Five attempts take less than two minutes.
pub(crate) const RETRY: Retry = Retry {
    initial: Duration::from_secs(2),
    factor: 2.0,
    max: Duration::from_secs(30),
    jitter: 0.2,
};

/// The same job again after this time. It did not cause the wait, so it is not charged an attempt.
pub(crate) const fn later<E>(delay: Duration) -> Finish<Option<E>> {
    Finish::Again {
        effect: None,
        delay,
        charged: false,
    }
}
