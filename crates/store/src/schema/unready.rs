//! Why a binary cannot serve the schema of a database.

use std::fmt;

use crate::Error;

/// The newest migration of the service and of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    pub(super) service: i64,
    pub(super) queue: i64,
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (queue: {})", self.service, self.queue)
    }
}

/// Why this binary cannot serve the schema of a database, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unready {
    /// Migrations of this binary are missing.
    #[error("the database does not have this version's schema yet: run `gatehouse migrate`")]
    Behind,
    /// There is nothing of Gatehouse, and others have what it would create.
    #[error(
        "the database belongs to another application: it has {0}, which Gatehouse would create. Create a database for Gatehouse alone, \
         and name it in DATABASE_URL. Nothing was changed"
    )]
    Foreign(String),
    /// There is nothing of Gatehouse, and the role may not create it.
    #[error(
        "the database does not have this version's schema, and the role {role} may not create it. As an administrator, run in this \
         database: {remedy}"
    )]
    Forbidden {
        /// The role that has connected.
        role: String,
        /// Statements that allow it.
        remedy: String,
    },
    /// Another role has created the schema, and the role may not use it.
    #[error(
        "the database's schema belongs to the role {owner}, and the role {role} may not use it. {remedy}"
    )]
    Closed {
        /// The role that has connected.
        role: String,
        /// The role that has migrated the database.
        owner: String,
        /// What to do: a sentence.
        remedy: String,
    },
    /// A newer migration has removed what this binary uses.
    #[error(
        "the schema is too new for this version: it has migrations up to {found}, and migration {by} has removed what only versions can \
         do without that know migration {needs}. This version knows them up to {known}. Run a version that knows migration {needs}, or \
         restore a backup from before the upgrade"
    )]
    TooNew {
        /// What the database has.
        found: Versions,
        /// What this binary knows.
        known: Versions,
        /// The migration that has removed something.
        by: i64,
        /// The migration that a binary must know to do without it.
        needs: i64,
    },
    /// Migrations of this binary are missing, and newer ones are there.
    #[error(
        "the database has migration {unknown}, which this version does not know, and lacks migration {missing}, which it knows: another \
         build of Gatehouse has migrated it. Run that build"
    )]
    Diverged {
        /// A migration of the database.
        unknown: i64,
        /// A migration of this binary.
        missing: i64,
    },
    /// The question itself failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl Unready {
    /// Whether it stays so until somebody runs another binary.
    pub const fn is_final(&self) -> bool {
        match self {
            Self::TooNew { .. } | Self::Diverged { .. } => true,
            Self::Behind
            | Self::Foreign(_)
            | Self::Forbidden { .. }
            | Self::Closed { .. }
            | Self::Failed(_) => false,
        }
    }
}

impl From<sqlx::Error> for Unready {
    fn from(error: sqlx::Error) -> Self {
        Self::Failed(error.into())
    }
}
