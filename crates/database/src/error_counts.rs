//! Counts what goes wrong with statements and connections, by the class of the SQLSTATE.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use metrics::counter;
use sqlx::Error;

use crate::{connection_setup::Unwritable, plain_error};

const METRIC: &str = "gatehouse_db_errors_total";
/// The classes of <https://www.postgresql.org/docs/current/errcodes-appendix.html> that are counted
/// by name.
const CLASSES: [&str; 14] = [
    "08", "22", "23", "25", "26", "28", "40", "42", "53", "54", "55", "57", "58", "XX",
];
/// What a server answers that is asked to write and cannot.
const READ_ONLY: &str = "25";
/// The pool had no connection in time.
const POOL: &str = "pool";
/// The connection broke, or there was no answer in time.
const IO: &str = "io";
/// Other SQLSTATEs, and values that could not be read or written.
const OTHER: &str = "other";

/// A pool says only that it had no connection in time, not why the server gave it none.
static POOL_TIMED_OUT: AtomicBool = AtomicBool::new(false);

/// How many errors were counted, of all classes.
static COUNTED: AtomicU64 = AtomicU64::new(0);

/// Shows every class as 0. Call it once the recorder of metrics is installed: a counter that first
/// appears with its first incident shows no increase.
pub fn expect_no_errors() {
    for class in CLASSES.into_iter().chain([POOL, IO, OTHER]) {
        counter!(METRIC, "class" => class).increment(0);
    }
}

/// Counts an error. Call it once for each failed statement, where the error is handled or becomes
/// an error of another kind.
pub fn count_error(error: &Error) {
    if matches!(error, Error::PoolTimedOut) {
        POOL_TIMED_OUT.store(true, Ordering::Relaxed);
    }
    COUNTED.fetch_add(1, Ordering::Relaxed);
    counter!(METRIC, "class" => class(error)).increment(1);
}

/// Counts an error where it is handled, and gives it the words that people may read.
#[must_use]
pub fn counted(error: Error) -> Error {
    count_error(&error);
    plain_error(error)
}

/// How many errors were counted since the process started.
pub(crate) fn errors_so_far() -> u64 {
    COUNTED.load(Ordering::Relaxed)
}

/// Whether a pool had no connection for somebody since this was last asked.
pub(crate) fn take_pool_timed_out() -> bool {
    POOL_TIMED_OUT.swap(false, Ordering::Relaxed)
}

fn class(error: &Error) -> &'static str {
    match error {
        Error::Database(refused) => refused
            .code()
            .and_then(|code| CLASSES.into_iter().find(|class| code.starts_with(class)))
            .unwrap_or(OTHER),
        Error::PoolTimedOut | Error::PoolClosed => POOL,
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::WorkerCrashed => IO,
        Error::Configuration(error) if error.is::<Unwritable>() => READ_ONLY,
        // The rest concerns values. sqlx may add more kinds.
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_error_has_a_class_that_is_shown_from_the_start() {
        for (error, expected) in [
            (Error::PoolTimedOut, "pool"),
            (crate::deadline_exceeded(Duration::from_secs(1)), "io"),
            (Error::RowNotFound, "other"),
            (Unwritable::standby().into(), "25"),
        ] {
            assert_eq!(class(&error), expected, "{error}");
        }
    }

    #[sqlx::test(migrations = false)]
    async fn a_refused_statement_has_the_class_of_its_sqlstate(pool: sqlx::PgPool) {
        for (statement, expected) in [
            ("select 1 / 0", "22"),
            ("select nothing", "42"),
            (
                "do $$ begin raise exception using errcode = '53100'; end $$",
                "53",
            ),
            (
                "do $$ begin raise exception using errcode = '57P03'; end $$",
                "57",
            ),
            (
                "do $$ begin raise exception using errcode = 'P0001'; end $$",
                "other",
            ),
        ] {
            let error = sqlx::raw_sql(statement).execute(&pool).await.unwrap_err();
            assert_eq!(class(&error), expected, "{statement}");
        }
    }
}
