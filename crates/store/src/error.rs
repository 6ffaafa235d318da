//! What can go wrong in this crate.
//!
//! A constraint that a caller can violate is translated beside the statement that can violate it:
//! into one of the general variants ([`Error::on_violation`]), or into an `Option` where only this
//! noun has such a refusal ([`violates`]). So a new noun changes nothing here.

use database::Absence;
use domain::{media::UnknownName, plan::LimitReached};
use queue::Fault;

/// What can go wrong below the callers.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Postgres refused the statement, failed, or could not be reached.
    #[error(transparent)]
    Sql(sqlx::Error),
    /// A stored value is not what this version of Gatehouse writes.
    #[error("the database holds a value that this version cannot read: {0}")]
    Unreadable(String),
    /// Too many calls are waiting.
    #[error("overloaded")]
    Overloaded,
    /// A shared query failed; its own error was logged where it ran.
    #[error("the database query failed")]
    Unavailable,
    /// Another thing of the same kind has this name.
    #[error("the name is taken")]
    NameTaken,
    /// There is no such plan.
    #[error("there is no such plan")]
    UnknownPlan,
    /// The plan does not let the team have another one.
    #[error(transparent)]
    LimitReached(LimitReached),
    /// The site keeps so many deleted endpoints, for their deliveries, that it cannot have another
    /// endpoint.
    #[error("the site has deleted {0} webhook endpoints whose deliveries are still kept")]
    TooManyDeleted(i64),
}

impl Error {
    /// For `map_err`: `meaning` if the statement violated this constraint, and the error itself
    /// otherwise.
    pub(crate) fn on_violation(
        constraint: &'static str,
        meaning: Self,
    ) -> impl FnOnce(sqlx::Error) -> Self {
        move |error| {
            if violates(&error, constraint) {
                meaning
            } else {
                error.into()
            }
        }
    }

    /// There was no answer within this time.
    pub fn late(patience: std::time::Duration) -> Self {
        database::deadline_exceeded(patience).into()
    }

    /// Whether the connection was lost, or Postgres ended it (class 08 and 57P).
    pub(crate) fn is_broken_connection(&self) -> bool {
        match self {
            Self::Sql(sqlx::Error::Io(_)) => true,
            Self::Sql(sqlx::Error::Database(error)) => error
                .code()
                .is_some_and(|code| code.starts_with("08") || code.starts_with("57P")),
            _ => false,
        }
    }

    /// Whether the cause is the database, the connection to it, or too many waiting calls. The same
    /// call will succeed once that is over.
    pub fn is_outage(&self) -> bool {
        // A lock that others hold.
        const LOCK_NOT_AVAILABLE: &str = "55P03";
        match self {
            Self::Overloaded | Self::Unavailable => true,
            Self::Sql(error) => {
                let state = error
                    .as_database_error()
                    .and_then(sqlx::error::DatabaseError::code);
                Fault::of(error) == Fault::System || state.as_deref() == Some(LOCK_NOT_AVAILABLE)
            }
            _ => false,
        }
    }

    /// Whether one row causes it every time, so that the other rows of its batch can be read
    /// without that row.
    pub(crate) fn is_of_a_row(&self) -> bool {
        match self {
            Self::Sql(error) => Fault::of(error) == Fault::Effect,
            Self::Unreadable(_) => true,
            Self::Overloaded
            | Self::Unavailable
            | Self::NameTaken
            | Self::UnknownPlan
            | Self::LimitReached(_)
            | Self::TooManyDeleted(_) => false,
        }
    }
}

/// Whether a statement failed because it violated this constraint.
pub(crate) fn violates(error: &sqlx::Error, constraint: &str) -> bool {
    let violated = error
        .as_database_error()
        .and_then(|error| error.constraint());
    violated == Some(constraint)
}

impl Absence for Error {
    fn is_absence(&self) -> bool {
        match self {
            Self::Sql(error) => error.is_absence(),
            Self::Unavailable => true,
            Self::Unreadable(_)
            | Self::Overloaded
            | Self::NameTaken
            | Self::UnknownPlan
            | Self::LimitReached(_)
            | Self::TooManyDeleted(_) => false,
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(database::counted(error))
    }
}

impl From<UnknownName> for Error {
    fn from(error: UnknownName) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}
