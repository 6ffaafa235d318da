//! Reports an outage of the database once. Many parts of a process notice it, and the watch reports
//! it for all of them.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sqlx::Error;
use telemetry::{Failing, Over, RepeatedFailure};

use crate::errors::Unwritable;

/// The longest time in which a watch notices an outage: its pause, a look that gets no answer, and
/// a search that gets none.
const NOTICE: Duration = Duration::from_secs(5);
/// For so long after an outage, connections of pools may turn out to be broken.
const SETTLE: Duration = Duration::from_secs(10);

/// A part of the process that uses the database again and again, and logs its failures. It says
/// nothing of an outage that a watch of this process reports. What only this part meets, it
/// reports: at first, at growing distance, and when it is over.
#[derive(Debug)]
pub struct Trouble(RepeatedFailure);

/// An error that may mean that the database is away.
pub trait Absence {
    /// Whether the database could not be reached, or did not answer, or does not write.
    fn is_absence(&self) -> bool;
}

impl Trouble {
    /// For attempts one after the other.
    pub const fn in_turn() -> Self {
        Self(RepeatedFailure::in_turn())
    }

    /// For attempts at the same time.
    pub const fn at_once() -> Self {
        Self(RepeatedFailure::at_once())
    }

    /// An attempt failed. Returns what to log now, if it is time to.
    pub fn failed(&self, error: &impl Absence) -> Option<Failing> {
        let patience = lock().patience(Instant::now(), error.is_absence());
        self.0.failed_for(patience)
    }

    /// An attempt succeeded. Returns what to log if it ended a series that was logged.
    pub fn worked(&self) -> Option<Over> {
        self.0.worked()
    }
}

impl Absence for Error {
    fn is_absence(&self) -> bool {
        match self {
            Self::Io(_)
            | Self::Tls(_)
            | Self::Protocol(_)
            | Self::PoolTimedOut
            | Self::PoolClosed
            | Self::WorkerCrashed => true,
            Self::Configuration(error) => error.is::<Unwritable>(),
            // Of the connection; ended by an administrator, or starting; read-only.
            Self::Database(refused) => refused.code().is_some_and(|code| {
                code.starts_with("08") || code.starts_with("57P") || code == "25006"
            }),
            // sqlx may add more kinds.
            _ => false,
        }
    }
}

/// What the watches of this process say. A process has one database.
#[derive(Debug)]
struct Watched {
    watches: usize,
    is_away: bool,
    back: Option<Instant>,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched {
    watches: 0,
    is_away: false,
    back: None,
});

impl Watched {
    /// How long a part of the process waits until it reports an error.
    fn patience(&self, now: Instant, is_absence: bool) -> Duration {
        let settles = self
            .back
            .is_some_and(|back| now.duration_since(back) < SETTLE);
        match is_absence {
            _ if self.watches == 0 => Duration::ZERO,
            // Whatever fails now fails because of it.
            _ if self.is_away => Duration::MAX,
            true if settles => Duration::MAX,
            true => NOTICE,
            false => Duration::ZERO,
        }
    }
}

pub(crate) fn watch_begins() {
    lock().watches += 1;
}

/// A watch ends. Nobody reports an outage any more.
pub(crate) fn watch_ends() {
    let mut watched = lock();
    watched.watches = watched.watches.saturating_sub(1);
    watched.is_away = false;
}

/// The watch reports that the database is away.
pub(crate) fn is_away() {
    lock().is_away = true;
}

/// The watch reports that it is back.
pub(crate) fn is_back() {
    let mut watched = lock();
    watched.is_away = false;
    watched.back = Some(Instant::now());
}

fn lock() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_left_to_the_watch_and_what_lasts_longer_is_not() {
        let now = Instant::now();
        let mut watched = Watched {
            watches: 0,
            is_away: false,
            back: None,
        };
        let (never, at_once) = (Duration::MAX, Duration::ZERO);
        let patiences =
            |watched: &Watched, now| [true, false].map(|absence| watched.patience(now, absence));
        assert_eq!(patiences(&watched, now), [at_once, at_once]);
        watched.watches = 1;
        assert_eq!(patiences(&watched, now), [NOTICE, at_once]);
        watched.is_away = true;
        assert_eq!(patiences(&watched, now), [never, never]);
        watched.is_away = false;
        watched.back = Some(now);
        assert_eq!(patiences(&watched, now + SETTLE / 2), [never, at_once]);
        assert_eq!(patiences(&watched, now + SETTLE), [NOTICE, at_once]);
    }

    #[test]
    fn errors_of_values_and_statements_are_no_absence() {
        for (error, expected) in [
            (Error::PoolTimedOut, true),
            (crate::deadline_exceeded(Duration::from_secs(1)), true),
            (Unwritable::standby().into(), true),
            (Error::RowNotFound, false),
        ] {
            assert_eq!(error.is_absence(), expected, "{error}");
        }
    }

    #[sqlx::test(migrations = false)]
    async fn a_refused_statement_is_judged_by_its_sqlstate(pool: sqlx::PgPool) {
        for (state, expected) in [
            ("57P01", true),
            ("57P03", true),
            ("08006", true),
            ("25006", true),
            // Too many connections: the database is there.
            ("53300", false),
            ("42P01", false),
        ] {
            let raise = format!("do $$ begin raise exception using errcode = '{state}'; end $$");
            let raised = sqlx::raw_sql(sqlx::AssertSqlSafe(raise)).execute(&pool);
            let error = crate::plain_error(raised.await.unwrap_err());
            assert_eq!(error.is_absence(), expected, "{state}");
        }
    }
}
