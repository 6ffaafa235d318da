//! Errors of statements and connections: what people may read of them, and how many there were, by
//! the class of the SQLSTATE.
//!
//! sqlx adds the line of Postgres's source to Postgres's errors, which says nothing to a reader and
//! looks like a line of a file of theirs. So they are shown in Postgres's own words.

use std::{
    borrow::Cow,
    error::Error as StdError,
    fmt, io,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use metrics::counter;
use sqlx::{
    Error,
    error::{DatabaseError, ErrorKind},
    migrate::MigrateError,
    postgres::PgDatabaseError,
};

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

/// The server of a session does not write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this server is {0}: Gatehouse needs one that accepts writes (the primary)")]
pub struct Unwritable(pub(crate) String);

#[cfg(test)]
impl Unwritable {
    pub(crate) fn standby() -> Self {
        Self("a standby".to_owned())
    }
}

impl From<Unwritable> for Error {
    fn from(error: Unwritable) -> Self {
        Self::Configuration(Box::new(error))
    }
}

/// The database did not answer within this time. sqlx's `PoolTimedOut` is something else: no
/// connection was free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer within {0:?}")]
pub struct DeadlineExceeded(pub Duration);

impl From<DeadlineExceeded> for Error {
    /// This is an error of the connection, so that it is handled like a lost connection.
    fn from(deadline_exceeded: DeadlineExceeded) -> Self {
        Self::Io(io::Error::new(io::ErrorKind::TimedOut, deadline_exceeded))
    }
}

/// The error of a statement that had no answer within this time.
pub fn deadline_exceeded(patience: Duration) -> Error {
    DeadlineExceeded(patience).into()
}

/// The same error, which displays Postgres's message and nothing else. Errors that are not of
/// Postgres stay as they are.
#[must_use]
pub fn plain_error(error: Error) -> Error {
    match error {
        Error::Database(error) => match error.try_downcast::<PgDatabaseError>() {
            Ok(error) => Error::Database(Box::new(PlainError(error))),
            Err(other) => Error::Database(other),
        },
        Error::Migrate(error) => Error::Migrate(Box::new(match *error {
            MigrateError::Execute(error) => MigrateError::Execute(plain_error(error)),
            MigrateError::ExecuteMigration(error, version) => {
                MigrateError::ExecuteMigration(plain_error(error), version)
            }
            other => other,
        })),
        other => other,
    }
}

/// What an error says, without what the driver adds: the line of Postgres's source, and that a server which does not write is an
/// error of the configuration.
pub fn error_message(error: &(dyn StdError + 'static)) -> String {
    match error.downcast_ref() {
        Some(Error::Database(refused)) => {
            return format!("error returned from database: {}", refused.message());
        }
        Some(Error::Configuration(cause)) => return cause.to_string(),
        _ => {}
    }
    // The cause of that error.
    if let Some(refused) = error.downcast_ref::<Box<dyn DatabaseError>>() {
        return refused.message().to_owned();
    }
    match error.downcast_ref::<PgDatabaseError>() {
        Some(refused) => refused.message().to_owned(),
        None => error.to_string(),
    }
}

/// An error of Postgres that displays its message.
#[derive(Debug)]
struct PlainError(Box<PgDatabaseError>);

impl fmt::Display for PlainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.message())
    }
}

impl StdError for PlainError {}

impl DatabaseError for PlainError {
    fn message(&self) -> &str {
        self.0.message()
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        DatabaseError::code(&*self.0)
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn is_transient_in_connect_phase(&self) -> bool {
        self.0.is_transient_in_connect_phase()
    }

    fn constraint(&self) -> Option<&str> {
        DatabaseError::constraint(&*self.0)
    }

    fn table(&self) -> Option<&str> {
        DatabaseError::table(&*self.0)
    }

    fn kind(&self) -> ErrorKind {
        self.0.kind()
    }
}

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
    use sqlx::PgPool;

    use super::*;

    #[test]
    fn a_passed_deadline_says_so_and_blames_no_pool() {
        let error = deadline_exceeded(Duration::from_millis(1500));
        let text = error.to_string();
        assert!(text.contains("no answer within 1.5s"), "{text}");
        assert!(!text.contains("pool"), "{text}");
    }

    #[test]
    fn a_passed_deadline_can_be_told_from_a_lost_connection() {
        let is_late = |error: &Error| match error {
            Error::Io(error) => {
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
                inner.is_some_and(|DeadlineExceeded(_)| true)
            }
            _ => false,
        };
        assert!(is_late(&deadline_exceeded(Duration::from_secs(5))));
        let lost = Error::from(io::Error::from(io::ErrorKind::ConnectionReset));
        assert!(!is_late(&lost));
    }

    async fn failing(pool: &PgPool, statement: &'static str) -> Error {
        sqlx::raw_sql(statement).execute(pool).await.unwrap_err()
    }

    #[sqlx::test(migrations = false)]
    async fn an_error_of_postgres_is_its_message_without_a_line_of_its_source(pool: PgPool) {
        let error = failing(&pool, "select 1 / 0").await;
        // Without this, there would be nothing to mend.
        assert!(error.to_string().contains(" at line "), "{error}");
        let error = plain_error(error);
        assert_eq!(
            error.to_string(),
            "error returned from database: division by zero"
        );
        let cause = error.source().map(ToString::to_string);
        assert_eq!(cause.as_deref(), Some("division by zero"));
        // The same words without changing it, of the error and of its cause.
        let error_again = failing(&pool, "select 1 / 0").await;
        assert_eq!(error_message(&error_again), error.to_string());
        let cause = error_again.source().map(error_message);
        assert_eq!(cause.as_deref(), Some("division by zero"));
        // A second time changes nothing.
        assert!(!plain_error(error).to_string().contains(" at line "));
    }

    #[sqlx::test(migrations = false)]
    async fn a_plain_error_can_still_be_judged(pool: PgPool) {
        sqlx::raw_sql(
            "create table t (id integer constraint t_pkey primary key); insert into t values (1)",
        )
        .execute(&pool)
        .await
        .unwrap();
        let error = plain_error(failing(&pool, "insert into t values (1)").await);
        let error = error.as_database_error().unwrap();
        assert_eq!(error.code().as_deref(), Some("23505"));
        assert_eq!(error.constraint(), Some("t_pkey"));
        assert_eq!(error.table(), Some("t"));
        assert!(error.is_unique_violation());
        assert!(!error.is_transient_in_connect_phase());
    }

    #[sqlx::test(migrations = false)]
    async fn the_error_of_a_migration_is_plain_too(pool: PgPool) {
        let error = failing(&pool, "select nothing").await;
        let error = MigrateError::ExecuteMigration(error, 7);
        let error = plain_error(Error::from(error));
        let mut told = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            told = format!("{told}: {error}");
            cause = error.source();
        }
        assert!(told.contains("\"nothing\" does not exist"), "{told}");
        assert!(!told.contains(" at line "), "{told}");
    }

    #[test]
    fn each_error_has_a_class_that_is_shown_from_the_start() {
        for (error, expected) in [
            (Error::PoolTimedOut, "pool"),
            (deadline_exceeded(Duration::from_secs(1)), "io"),
            (Error::RowNotFound, "other"),
            (Unwritable::standby().into(), "25"),
        ] {
            assert_eq!(class(&error), expected, "{error}");
        }
    }

    #[sqlx::test(migrations = false)]
    async fn a_refused_statement_has_the_class_of_its_sqlstate(pool: PgPool) {
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
