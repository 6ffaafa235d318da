//! Why a batch was not written.

use std::fmt;

use database::Absence;

use crate::fault::Fault;

/// Why a batch was not written; everything is rolled back.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(sqlx::Error),
    Panic(String),
    /// No answer within the deadline.
    TimedOut,
}

impl Failure {
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Sql(error) => Fault::of(error),
            Self::Panic(_) => Fault::Effect,
            Self::TimedOut => Fault::Unclear,
        }
    }
}

impl Absence for Failure {
    fn is_absence(&self) -> bool {
        match self {
            Self::Sql(error) => error.is_absence(),
            Self::Panic(_) => false,
            Self::TimedOut => true,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sql(error) => error.fmt(f),
            Self::Panic(text) => write!(f, "it panicked: {text}"),
            Self::TimedOut => f.write_str("no answer within the deadline"),
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(database::counted(error))
    }
}
