//! Compatibility: how the schema of a database compares with the one of this binary.

use std::fmt;

use sqlx::{PgConnection, migrate::Migrator};

use super::{
    MIGRATOR, access, preconditions,
    unready::{Unready, Versions},
};
use crate::Error;

/// A schema that this binary can serve. It is displayed as the end of a sentence about the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compatibility {
    /// It has exactly the migrations of this binary.
    Current,
    /// It has newer ones, too, and these only add.
    Newer {
        /// What the database has.
        found: Versions,
        /// What this binary knows.
        known: Versions,
    },
}

impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current => f.write_str("up to date"),
            Self::Newer { found, known } => write!(
                f,
                "newer than this version: it has migrations up to {found}. This version serves schemas from {known} on, until a \
                 newer migration removes what it uses. None did, so there is nothing to do"
            ),
        }
    }
}

/// Compares the migrations of a database with those of this binary. Reads only.
pub(super) async fn look(conn: &mut PgConnection) -> Result<Compatibility, Unready> {
    access::require(conn).await?;
    // A statement cannot name a table that is not there.
    let (service, queue): (bool, bool) = sqlx::query_as(
        "select to_regclass('_sqlx_migrations') is not null, to_regclass('queue._migrations') is not null",
    )
    .fetch_one(&mut *conn)
    .await?;
    // The queue's table is created first. Without it, a list of migrations is not ours.
    if !queue {
        preconditions::require(conn).await?;
        return Err(Unready::Behind);
    }
    if !service {
        return Err(Unready::Behind);
    }
    let service =
        "select version, description from _sqlx_migrations where success order by version";
    let queue = "select version, description from queue._migrations where success order by version";
    let service = Compared::new(&MIGRATOR, &applied(conn, service).await?);
    let queue = Compared::new(&queue::MIGRATOR, &applied(conn, queue).await?);
    judge(&service, &queue)
}

fn judge(service: &Compared, queue: &Compared) -> Result<Compatibility, Unready> {
    let (found, known) = (
        Versions {
            service: service.found,
            queue: queue.found,
        },
        Versions {
            service: service.known,
            queue: queue.known,
        },
    );
    if let Some((by, needs)) = service.removed.or(queue.removed) {
        return Err(Unready::TooNew {
            found,
            known,
            by,
            needs,
        });
    }
    match (
        service.missing.or(queue.missing),
        service.unknown.or(queue.unknown),
    ) {
        (Some(missing), Some(unknown)) => Err(Unready::Diverged { unknown, missing }),
        (Some(_), None) => Err(Unready::Behind),
        (None, Some(_)) => Ok(Compatibility::Newer { found, known }),
        (None, None) => Ok(Compatibility::Current),
    }
}

/// A migration that a database has: its number, and its name.
type Applied = (i64, String);

async fn applied(conn: &mut PgConnection, list: &'static str) -> Result<Vec<Applied>, Error> {
    Ok(sqlx::query_as(list).fetch_all(conn).await?)
}

/// The migrations of one list, in the database and in this binary.
struct Compared {
    /// The newest in the database; 0 without any.
    found: i64,
    /// The newest in this binary.
    known: i64,
    /// The oldest in this binary that the database lacks.
    missing: Option<i64>,
    /// The newest in the database that this binary lacks.
    unknown: Option<i64>,
    /// One that has removed what this binary uses, and the migration that a binary must know to do without it.
    removed: Option<(i64, i64)>,
}

impl Compared {
    fn new(migrator: &Migrator, applied: &[Applied]) -> Self {
        let known = || migrator.iter().map(|migration| migration.version);
        let newest = known().max().unwrap_or_default();
        let unknown = || {
            let all = applied.iter();
            all.filter(move |(version, _)| !migrator.version_exists(*version))
        };
        let is_applied = |version| applied.iter().any(|(applied, _)| *applied == version);
        Self {
            found: applied
                .iter()
                .map(|(version, _)| *version)
                .max()
                .unwrap_or(0),
            known: newest,
            missing: known().find(|version| !is_applied(*version)),
            unknown: unknown().map(|(version, _)| *version).max(),
            removed: unknown()
                .filter_map(|(version, name)| Some((*version, needs(name)?)))
                .filter(|(_, needs)| *needs > newest)
                .max_by_key(|(_, needs)| *needs),
        }
    }
}

/// A migration that removes something says in its name which migration a binary must know to do without it:
/// `0052_drop_old_columns_needs_49.sql`. sqlx stores the name with spaces.
fn needs(name: &str) -> Option<i64> {
    let (before, number) = name.rsplit_once(' ')?;
    let (_, word) = before.rsplit_once(' ')?;
    if word == "needs" {
        number.parse().ok()
    } else {
        None
    }
}
