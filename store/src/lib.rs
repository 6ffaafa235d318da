//! All SQL of Gatehouse: one function a statement, one transaction a step.
//!
//! Callers see typed rows and neutral errors; nobody above this crate knows a table's name. What a worker wants done when
//! its job ends is an effect ([`analysis::Analysed`], [`verdict::Concluded`], [`delivery::Attempted`]): the queue
//! applies it in the transaction that finishes the job.

pub mod accept;
pub mod analysis;
pub mod delivery;
pub mod gather;
pub mod jobs;
pub mod rate;
pub mod rule_group;
pub mod schema;
pub mod seal;
pub mod site;
pub mod status;
pub mod tenant;
pub mod verdict;

use domain::media::UnknownName;

/// What can go wrong below the callers.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Postgres refused, failed or was not there.
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    /// A stored value is not what this version of Gatehouse writes.
    #[error("the database holds a value that this version cannot read: {0}")]
    Unreadable(String),
    /// More is waiting than may wait.
    #[error("overloaded")]
    Overloaded,
    /// A shared query failed; its own error was logged where it ran.
    #[error("the database could not be asked")]
    Unavailable,
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

impl From<seal::OpenError> for Error {
    fn from(error: seal::OpenError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// A connection pool on one database.
pub use sqlx::PgPool;
