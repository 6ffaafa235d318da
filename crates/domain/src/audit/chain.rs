//! The chain of the audit log: each row has a number and a hash that depends on the row and on all
//! rows before it. Every team has a chain, and the rows without a team have one. `docs/audit-log.md`
//! describes the encoding for others who compute it.

mod finding;
mod hash;
mod verify;

use std::fmt;

use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub use self::{
    finding::Finding,
    hash::{ChainHash, Link, MalformedLink},
    verify::Walk,
};
use crate::id::TeamId;

/// Whose chain it is: a team's, or the one of the rows without a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(Uuid);

impl ChainId {
    /// The chain of the rows without a team. Its UUID is nil, and the least of all.
    pub const WITHOUT_TEAM: Self = Self(Uuid::nil());

    /// The chain with this UUID in the database.
    pub const fn from_uuid(id: Uuid) -> Self {
        Self(id)
    }

    /// The chain of a team, or the one of the rows without a team.
    pub fn of(team: Option<TeamId>) -> Self {
        team.map_or(Self::WITHOUT_TEAM, |team| Self(team.as_uuid()))
    }

    /// The UUID in the database.
    pub const fn as_uuid(self) -> Uuid {
        self.0
    }

    /// The team. `None`: the chain of the rows without a team.
    pub fn team(self) -> Option<TeamId> {
        (self != Self::WITHOUT_TEAM).then_some(TeamId::from_uuid(self.0))
    }

    /// The first chain that may come after this one. `None` after the last one.
    pub fn successor(self) -> Option<Self> {
        let next = self.0.as_u128().checked_add(1)?;
        Some(Self(Uuid::from_u128(next)))
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.team() {
            Some(team) => write!(f, "team {team}"),
            None => f.write_str("rows without a team"),
        }
    }
}

/// A row of the audit log with all its columns, except its number and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `id`.
    pub id: Uuid,
    /// `team_id`.
    pub team_id: Option<Uuid>,
    /// `actor`.
    pub actor: String,
    /// `actor_id`.
    pub actor_id: Option<Uuid>,
    /// `action`.
    pub action: String,
    /// `target_id`.
    pub target_id: Option<Uuid>,
    /// `details`: the JSON text as it is stored.
    pub details: String,
    /// `request_id`.
    pub request_id: Option<String>,
    /// `trace_id`: 16 bytes.
    pub trace_id: Option<Vec<u8>>,
    /// `occurred_at`, in whole microseconds.
    pub occurred_at: DateTime<Utc>,
}

impl Row {
    /// The columns that the hash covers, in its order. A column that is added later gets the last
    /// place. It must be null in older rows, and null columns are not encoded. So their hashes stay
    /// the same.
    pub const COLUMNS: [&str; 10] = [
        "id",
        "team_id",
        "actor",
        "actor_id",
        "action",
        "target_id",
        "details",
        "request_id",
        "trace_id",
        "occurred_at",
    ];

    /// The row's link, if it comes after this one: the next number, and the SHA-256 of the previous
    /// hash and the row's encoding.
    pub fn link_after(&self, previous: &Link) -> Link {
        let number = previous.number.saturating_add(1);
        let mut hash = Sha256::new();
        hash.update(previous.hash.as_bytes());
        self.encode(number, |bytes| hash.update(bytes));
        Link {
            number,
            hash: ChainHash::new(hash.finalize().into()),
        }
    }

    /// The canonical encoding: a label, the number, and the name and the value of each column that
    /// is not null, each after its length. Numbers and lengths have 8 bytes, the highest first.
    fn encode(&self, number: i64, mut put: impl FnMut(&[u8])) {
        let occurred_at = self.occurred_at.timestamp_micros().to_be_bytes();
        let values: [Option<&[u8]>; Self::COLUMNS.len()] = [
            Some(self.id.as_bytes()),
            self.team_id.as_ref().map(|id| &id.as_bytes()[..]),
            Some(self.actor.as_bytes()),
            self.actor_id.as_ref().map(|id| &id.as_bytes()[..]),
            Some(self.action.as_bytes()),
            self.target_id.as_ref().map(|id| &id.as_bytes()[..]),
            Some(self.details.as_bytes()),
            self.request_id.as_deref().map(str::as_bytes),
            self.trace_id.as_deref(),
            Some(&occurred_at),
        ];
        put(b"gatehouse audit row 1");
        put(&number.to_be_bytes());
        for (name, value) in Self::COLUMNS.into_iter().zip(values) {
            let Some(value) = value else { continue };
            for part in [name.as_bytes(), value] {
                put(&(part.len() as u64).to_be_bytes());
                put(part);
            }
        }
    }
}

#[cfg(test)]
mod tests;
