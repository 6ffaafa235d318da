//! What can be wrong with a chain.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use uuid::Uuid;

use super::Link;

/// The first thing that is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The chain does not begin as every chain does.
    Beginning {
        /// Its beginning.
        start: Link,
    },
    /// The row does not fit its hash, or the row before it was changed together with its hash.
    Changed {
        /// The row's number.
        number: i64,
        /// The row.
        id: Uuid,
    },
    /// Rows are missing.
    Missing {
        /// The number of the first one.
        from: i64,
        /// The number of the last one.
        to: i64,
    },
    /// The row's number belongs to another row, to a removed one, or to none yet.
    Inserted {
        /// The number that it has.
        number: i64,
        /// The row.
        id: Uuid,
    },
    /// The head is not the last row.
    Head {
        /// The last row.
        last: Link,
        /// What the head says.
        head: Link,
    },
    /// Rows have numbers, but the chain has no head.
    NoHead,
    /// The row has another hash than the caller knows.
    Rewritten {
        /// What the caller knows.
        known: Link,
        /// The row as it is.
        found: Link,
    },
    /// The chain ends before the row that the caller knows.
    CutOff {
        /// What the caller knows.
        known: Link,
        /// The last row.
        last: Link,
    },
    /// The row that the caller knows comes before the first row, so it cannot be compared.
    Removed {
        /// What the caller knows.
        known: Link,
        /// What comes before the first row.
        start: Link,
    },
    /// A row is old and still has no number, although nothing seals its chain.
    Unsealed {
        /// The row.
        id: Uuid,
        /// Its time.
        occurred_at: DateTime<Utc>,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning { start } => {
                write!(
                    f,
                    "the chain begins after {start}, where no chain can begin"
                )
            }
            Self::Changed { number, id } => write!(
                f,
                "row {number} (id {id}) does not fit its hash: it was changed, or the row before it was changed together with \
                 its hash"
            ),
            Self::Missing { from, to } if from == to => write!(f, "row {from} is missing"),
            Self::Missing { from, to } => write!(f, "rows {from} to {to} are missing"),
            Self::Inserted { number, id } => write!(
                f,
                "the row with the id {id} was inserted: it has the number {number}, which sealing did not give it"
            ),
            Self::Head { last, head } => write!(
                f,
                "the head is {head}, but the last row is {last}: one of them was changed"
            ),
            Self::NoHead => f.write_str("rows have numbers, but the head of the chain is missing"),
            Self::Rewritten { known, found } => write!(
                f,
                "row {} has the hash {}, and not the known hash {}: rows were changed and their hashes were computed again",
                known.number, found.hash, known.hash
            ),
            Self::CutOff { known, last } => write!(
                f,
                "the last row has the number {}, but row {} is known: the end was cut off",
                last.number, known.number
            ),
            Self::Removed { known, start } => write!(
                f,
                "row {} cannot be compared: the rows up to {} were removed",
                known.number, start.number
            ),
            Self::Unsealed { id, occurred_at } => write!(
                f,
                "the row with the id {id} of {} has no number, and its chain was not sealed within the last minute",
                occurred_at.to_rfc3339_opts(SecondsFormat::Secs, true)
            ),
        }
    }
}
