//! What can be wrong with a chain.

use chrono::{DateTime, SecondsFormat, Utc};
use uuid::Uuid;

use super::Link;

/// The first thing that is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// The chain does not begin as every chain does.
    #[error("the chain begins after {start}, where no chain can begin")]
    Beginning {
        /// Its beginning.
        start: Link,
    },
    /// The row does not fit its hash, or the row before it was changed together with its hash.
    #[error(
        "row {number} (id {id}) does not fit its hash: it was changed, or the row before it was changed together with \
         its hash"
    )]
    Changed {
        /// The row's number.
        number: i64,
        /// The row.
        id: Uuid,
    },
    /// Rows are missing.
    #[error("{}", missing(*.from, *.to))]
    Missing {
        /// The number of the first one.
        from: i64,
        /// The number of the last one.
        to: i64,
    },
    /// The row's number belongs to another row, to a removed one, or to none yet.
    #[error(
        "the row with the id {id} was inserted: it has the number {number}, which sealing did not give it"
    )]
    Inserted {
        /// The number that it has.
        number: i64,
        /// The row.
        id: Uuid,
    },
    /// The head is not the last row.
    #[error("the head is {head}, but the last row is {last}: one of them was changed")]
    Head {
        /// The last row.
        last: Link,
        /// What the head says.
        head: Link,
    },
    /// Rows have numbers, but the chain has no head.
    #[error("rows have numbers, but the head of the chain is missing")]
    NoHead,
    /// The row has another hash than the caller knows.
    #[error(
        "row {} has the hash {}, and not the known hash {}: rows were changed and their hashes were computed again",
        .known.number, .found.hash, .known.hash
    )]
    Rewritten {
        /// What the caller knows.
        known: Link,
        /// The row as it is.
        found: Link,
    },
    /// The chain ends before the row that the caller knows.
    #[error(
        "the last row has the number {}, but row {} is known: the end was cut off",
        .last.number, .known.number
    )]
    CutOff {
        /// What the caller knows.
        known: Link,
        /// The last row.
        last: Link,
    },
    /// The row that the caller knows comes before the first row, so it cannot be compared.
    #[error(
        "row {} cannot be compared: the rows up to {} were removed",
        .known.number, .start.number
    )]
    Removed {
        /// What the caller knows.
        known: Link,
        /// What comes before the first row.
        start: Link,
    },
    /// A row is old and still has no number, although nothing seals its chain.
    #[error(
        "the row with the id {id} of {} has no number, and its chain was not sealed within the last minute",
        .occurred_at.to_rfc3339_opts(SecondsFormat::Secs, true)
    )]
    Unsealed {
        /// The row.
        id: Uuid,
        /// Its time.
        occurred_at: DateTime<Utc>,
    },
}

fn missing(from: i64, to: i64) -> String {
    if from == to {
        format!("row {from} is missing")
    } else {
        format!("rows {from} to {to} are missing")
    }
}
