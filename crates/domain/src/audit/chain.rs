//! The chain of the audit log: each row has a number and a hash that depends on the row and on all
//! rows before it. Every team has a chain, and the rows without a team have one. `docs/audit-log.md`
//! describes the encoding for others who compute it.

mod finding;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub use self::finding::Finding;
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

/// The hash of a row and of all rows before it: 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChainHash([u8; 32]);

impl ChainHash {
    /// These bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash that these bytes are. `None` if they are not 32.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChainHash({self})")
    }
}

/// The number and the hash of a row. It is written as `NUMBER:HASH`, the hash in 64 hexadecimal
/// digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The row's place in its chain; the first row has 1.
    pub number: i64,
    /// The row's hash.
    pub hash: ChainHash,
}

impl Link {
    /// What comes before the first row of every chain.
    pub const START: Self = Self {
        number: 0,
        hash: ChainHash::new([0; 32]),
    };
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, self.hash)
    }
}

/// A text is not a number and a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a number, a colon and a hash of 64 hexadecimal digits")]
pub struct MalformedLink;

impl FromStr for ChainHash {
    type Err = MalformedLink;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| MalformedLink)?;
        Ok(Self(bytes))
    }
}

impl FromStr for Link {
    type Err = MalformedLink;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, hash) = text.split_once(':').ok_or(MalformedLink)?;
        let number = number.parse().ok().filter(|number| *number >= 0);
        Ok(Self {
            number: number.ok_or(MalformedLink)?,
            hash: hash.parse()?,
        })
    }
}

/// Rows are numbered within seconds. A row whose time is so much earlier than that of a row with a
/// lower number was added later than it says, or the clock was wrong.
const BACKDATED: TimeDelta = TimeDelta::hours(1);

/// A walk along a chain, from its beginning to its head, which finds the first row that is not as it was sealed. It takes
/// constant memory.
#[derive(Clone, Debug)]
pub struct Walk {
    start: Link,
    known: Option<Link>,
    at: Link,
    rows: u64,
    latest: Option<DateTime<Utc>>,
    backdated: Option<i64>,
}

impl Walk {
    /// Begins after `start`. `known`: a row that the caller knows, to be compared.
    pub fn new(start: Link, known: Option<Link>) -> Self {
        Self {
            start,
            known,
            at: start,
            rows: 0,
            latest: None,
            backdated: None,
        }
    }

    /// Whether the beginning is possible.
    pub fn begin(&self) -> Result<(), Finding> {
        let start = self.start;
        if start.number < 0 || (start.number == 0 && start != Link::START) {
            return Err(Finding::Beginning { start });
        }
        match self.known {
            Some(known) if known.number < start.number => Err(Finding::Removed { known, start }),
            Some(known) if known.number == start.number && known != start => {
                Err(Finding::Rewritten {
                    known,
                    found: start,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Takes the next row, and the number and the hash that it has.
    pub fn step(&mut self, has: Link, row: &Row) -> Result<(), Finding> {
        let expected = self.at.number.saturating_add(1);
        let (number, id) = (has.number, row.id);
        if number > expected {
            return Err(Finding::Missing {
                from: expected,
                to: number - 1,
            });
        }
        if number < expected {
            return Err(Finding::Inserted { number, id });
        }
        if row.link_after(&self.at) != has {
            return Err(Finding::Changed { number, id });
        }
        if let Some(known) = self.known
            && known.number == number
            && known != has
        {
            return Err(Finding::Rewritten { known, found: has });
        }
        self.at = has;
        self.rows += 1;
        let bound = self.latest.and_then(|at| at.checked_sub_signed(BACKDATED));
        if bound.is_some_and(|bound| row.occurred_at < bound) {
            self.backdated.get_or_insert(number);
        }
        self.latest = self.latest.max(Some(row.occurred_at));
        Ok(())
    }

    /// Whether the last row is the head of the chain.
    pub fn end(&self, head: Link) -> Result<(), Finding> {
        let last = self.at;
        if last.number < head.number {
            return Err(Finding::Missing {
                from: last.number + 1,
                to: head.number,
            });
        }
        if last != head {
            return Err(Finding::Head { last, head });
        }
        match self.known {
            Some(known) if known.number > last.number => Err(Finding::CutOff { known, last }),
            Some(_) | None => Ok(()),
        }
    }

    /// What comes before the first row.
    pub fn start(&self) -> Link {
        self.start
    }

    /// The last row that was as it was sealed.
    pub fn at(&self) -> Link {
        self.at
    }

    /// How many rows were as they were sealed.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of the first row whose time is over an hour before that of an earlier row. It may
    /// have been added with an old time.
    pub fn backdated(&self) -> Option<i64> {
        self.backdated
    }
}
