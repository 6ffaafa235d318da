//! The lines of an export.

use anyhow::{Context as _, ensure};
use chrono::{DateTime, SecondsFormat, Utc};
use domain::{
    audit::chain::{ChainHash, ChainId, Link, Row},
    id::TeamId,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A line. Each chain has a `start`, its rows in the order of their numbers, and a `head`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Line {
    /// What comes before the first row.
    Start(End),
    Row(Box<Sealed>),
    /// The last row.
    Head(End),
}

/// A place in a chain.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    team_id: Option<Uuid>,
    number: i64,
    hash: String,
}

/// A row with its number and its hash. The members have the names of the columns.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sealed {
    number: i64,
    hash: String,
    id: Uuid,
    team_id: Option<Uuid>,
    actor: String,
    actor_id: Option<Uuid>,
    action: String,
    target_id: Option<Uuid>,
    /// The JSON text exactly as it is stored: the hash covers every character.
    details: String,
    request_id: Option<String>,
    /// In hexadecimal digits.
    trace_id: Option<String>,
    occurred_at: String,
}

impl Line {
    pub(super) fn start(chain: ChainId, link: Link) -> Self {
        Self::Start(End::new(chain, link))
    }

    pub(super) fn head(chain: ChainId, link: Link) -> Self {
        Self::Head(End::new(chain, link))
    }

    pub(super) fn row(has: Link, row: Row) -> Self {
        Self::Row(Box::new(Sealed {
            number: has.number,
            hash: has.hash.to_string(),
            id: row.id,
            team_id: row.team_id,
            actor: row.actor,
            actor_id: row.actor_id,
            action: row.action,
            target_id: row.target_id,
            details: row.details,
            request_id: row.request_id,
            trace_id: row.trace_id.map(hex::encode),
            occurred_at: row.occurred_at.to_rfc3339_opts(SecondsFormat::Micros, true),
        }))
    }
}

impl End {
    fn new(chain: ChainId, link: Link) -> Self {
        Self {
            team_id: chain.team().map(TeamId::as_uuid),
            number: link.number,
            hash: link.hash.to_string(),
        }
    }

    pub(super) fn chain(&self) -> ChainId {
        ChainId::of(self.team_id.map(TeamId::from_uuid))
    }

    pub(super) fn link(&self) -> anyhow::Result<Link> {
        link(self.number, &self.hash)
    }
}

impl Sealed {
    pub(super) fn chain(&self) -> ChainId {
        ChainId::of(self.team_id.map(TeamId::from_uuid))
    }

    /// The row, with the number and the hash that it has.
    pub(super) fn parse(self) -> anyhow::Result<(Link, Row)> {
        let occurred_at: DateTime<Utc> = self.occurred_at.parse().context("occurred_at")?;
        ensure!(
            occurred_at.timestamp_subsec_nanos().is_multiple_of(1_000),
            "occurred_at has more than six digits after the point"
        );
        let has = link(self.number, &self.hash)?;
        let row = Row {
            id: self.id,
            team_id: self.team_id,
            actor: self.actor,
            actor_id: self.actor_id,
            action: self.action,
            target_id: self.target_id,
            details: self.details,
            request_id: self.request_id,
            trace_id: self
                .trace_id
                .map(hex::decode)
                .transpose()
                .context("trace_id")?,
            occurred_at,
        };
        Ok((has, row))
    }
}

fn link(number: i64, hash: &str) -> anyhow::Result<Link> {
    let hash: ChainHash = hash.parse()?;
    Ok(Link { number, hash })
}
