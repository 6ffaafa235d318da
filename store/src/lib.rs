//! All SQL of Gatehouse: one function a statement, one transaction a step.
//!
//! Callers see typed rows and neutral errors; nobody above this crate knows a table's name. What a worker wants done when
//! its job ends is an effect ([`progress::Progress`], [`delivery::Attempted`]): the queue
//! applies it in the transaction that finishes the job.

pub mod accept;
pub mod analysis;
pub mod answers;
pub mod audit;
pub mod backtest;
pub mod chain;
pub mod created;
pub mod delivery;
pub mod endpoint;
pub mod event;
pub mod gather;
pub mod hash_list;
pub mod image;
mod isolate;
pub mod item_worker;
pub mod jobs;
pub mod media;
pub mod page;
pub mod person;
pub mod plan;
pub mod progress;
pub mod provider;
pub mod rate;
pub mod recovery;
pub mod rule_group;
pub mod schema;
pub mod seal;
pub mod site;
pub mod status;
pub mod subscription;
pub mod team;
pub mod token;
pub mod usage;
pub mod verdict;

use domain::{media::UnknownName, plan::LimitReached};
use queue::Fault;

/// What can go wrong below the callers.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Postgres refused, failed or was not there.
    #[error(transparent)]
    Sql(sqlx::Error),
    /// A stored value is not what this version of Gatehouse writes.
    #[error("the database holds a value that this version cannot read: {0}")]
    Unreadable(String),
    /// More is waiting than may wait.
    #[error("overloaded")]
    Overloaded,
    /// A shared query failed; its own error was logged where it ran.
    #[error("the database query failed")]
    Unavailable,
    /// Another thing of the kind has this name.
    #[error("the name is taken")]
    NameTaken,
    /// There is no such plan.
    #[error("there is no such plan")]
    UnknownPlan,
    /// The plan does not let the team have another one.
    #[error(transparent)]
    LimitReached(LimitReached),
    /// A site remembers so many deleted endpoints, for their deliveries, that it can have no other one.
    #[error("the site has deleted {0} webhook endpoints whose deliveries are still kept")]
    TooManyDeleted(i64),
    /// The team has a backtest that has not ended.
    #[error("the team has a running backtest")]
    BacktestRunning,
    /// The list is being held against these items.
    #[error("the list has a running scan over these items")]
    ScanRunning,
    /// The endpoint has a recovery that has not ended.
    #[error("the endpoint has a running recovery")]
    RecoveryRunning,
}

impl Error {
    /// Whether the statement met a connection that was no more, or that Postgres ended (class 08 and 57P).
    fn is_broken_connection(&self) -> bool {
        match self {
            Self::Sql(sqlx::Error::Io(_)) => true,
            Self::Sql(sqlx::Error::Database(error)) => error
                .code()
                .is_some_and(|code| code.starts_with("08") || code.starts_with("57P")),
            _ => false,
        }
    }

    /// Whether the database or the way to it is to blame, or too much that waits for it: the same will succeed once that is
    /// over.
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

    /// Whether one row causes it each time, so that the others of its batch can be read without that one.
    fn is_of_a_row(&self) -> bool {
        match self {
            Self::Sql(error) => Fault::of(error) == Fault::Effect,
            Self::Unreadable(_) => true,
            Self::Overloaded
            | Self::Unavailable
            | Self::NameTaken
            | Self::UnknownPlan
            | Self::LimitReached(_)
            | Self::TooManyDeleted(_)
            | Self::BacktestRunning
            | Self::ScanRunning
            | Self::RecoveryRunning => false,
        }
    }
}

impl From<sqlx::Error> for Error {
    /// A constraint that a caller may run into is told as what it means.
    fn from(error: sqlx::Error) -> Self {
        let constraint = error
            .as_database_error()
            .and_then(|error| error.constraint());
        match constraint {
            Some(
                "plans_name_key"
                | "sites_name_key"
                | "rule_groups_name_key"
                | "hash_lists_name_key",
            ) => Self::NameTaken,
            Some("subscriptions_plan_id_fkey") => Self::UnknownPlan,
            Some("backtests_running_key") => Self::BacktestRunning,
            Some("hash_scans_running_key") => Self::ScanRunning,
            Some("webhook_recoveries_running_key") => Self::RecoveryRunning,
            Some(_) | None => Self::Sql(error),
        }
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

impl From<seal::OpenError> for Error {
    fn from(error: seal::OpenError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// A connection, a pool of them, and a transaction on one: what callers hand through without knowing SQL.
pub use sqlx::{PgConnection, PgPool, PgTransaction};
