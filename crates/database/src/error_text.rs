//! Errors of Postgres in Postgres's own words. sqlx adds the line of Postgres's source to them,
//! which says nothing to a reader and looks like a line of a file of theirs.

use std::{borrow::Cow, error::Error as StdError, fmt};

use sqlx::{
    Error,
    error::{DatabaseError, ErrorKind},
    migrate::MigrateError,
    postgres::PgDatabaseError,
};

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

#[cfg(test)]
mod tests {
    use sqlx::PgPool;

    use super::*;

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
}
