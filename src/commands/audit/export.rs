//! `gatehouse audit export`: the rows of each chain, with its beginning and its head.

use std::io::{self, BufWriter, Write};

use anyhow::{Context as _, ensure};
use chrono::{DateTime, SecondsFormat, Utc};
use domain::{
    audit::chain::{ChainHash, ChainId, Link, Row},
    id::TeamId,
};
use serde::{Deserialize, Serialize};
use store::{
    PgConnection,
    audit::{self, Ends},
};
use uuid::Uuid;

use super::{Chains, NAME, chain};
use crate::{
    config::{AnyDatabaseOptions, time},
    service, terminal,
};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only the entries of this team, or `none` for those without a team [default: all]
    #[arg(long, value_name = "ID", value_parser = chain)]
    team: Option<ChainId>,
    /// Begin each chain with the first entry of this time or later. An export has no gaps, so a few earlier entries can follow
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<DateTime<Utc>>,
    /// End each chain with the last entry of an earlier time than this
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<DateTime<Utc>>,
}

pub(super) async fn run(database: AnyDatabaseOptions, args: &Args) -> anyhow::Result<()> {
    let located = database.locate()?;
    let mut conn = service::connect(&located.database, NAME).await?;
    let mut out = BufWriter::new(io::stdout());
    let mut chains = Chains::new(args.team);
    while let Some(chain) = chains.next(&mut conn).await? {
        let ended = match export(&mut conn, chain, args, &mut out).await {
            Ok(()) => out.flush(),
            Err(error) => match error.downcast::<io::Error>() {
                Ok(error) => Err(error),
                Err(error) => return Err(error),
            },
        };
        match ended {
            // The reader closed the pipe: that is no error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            ended => ended?,
        }
    }
    Ok(())
}

async fn export(
    conn: &mut PgConnection,
    chain: ChainId,
    args: &Args,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let ends = audit::ends(conn, chain).await?.unwrap_or(Ends {
        start: Link::START,
        head: Link::START,
    });
    let part = part(conn, chain, ends, args).await?;
    write(out, &Line::start(chain, part.start))?;
    let mut last = part.start;
    let mut after = (part.start.number, Uuid::max());
    loop {
        let rows = audit::slice(conn, chain, after, part.to).await?;
        if rows.is_empty() {
            break;
        }
        for (has, row) in rows {
            after = (has.number, row.id);
            last = has;
            write(out, &Line::row(has, row))?;
        }
    }
    let now = audit::ends(conn, chain).await?;
    ensure!(
        now.is_none_or(|now| now.start.number <= part.start.number),
        "retention removed entries while they were exported; run the command again"
    );
    // The head of the database, and not the last row: so an export shows that rows are missing.
    let head = if part.to == ends.head.number {
        ends.head
    } else {
        last
    };
    write(out, &Line::head(chain, head))?;
    Ok(())
}

/// The rows after `start` up to the number `to`.
struct Part {
    start: Link,
    to: i64,
}

async fn part(
    conn: &mut PgConnection,
    chain: ChainId,
    ends: Ends,
    args: &Args,
) -> anyhow::Result<Part> {
    let first = match args.since {
        None => ends.start.number + 1,
        Some(since) => audit::after(conn, chain, since)
            .await?
            .unwrap_or(ends.head.number + 1),
    };
    let to = match args.until {
        None => ends.head.number,
        Some(until) => {
            let last = audit::before(conn, chain, until).await?;
            last.unwrap_or(ends.start.number).min(ends.head.number)
        }
    };
    let before = first - 1;
    let start = if before <= ends.start.number {
        ends.start
    } else {
        let rows = audit::slice(conn, chain, (before, Uuid::nil()), before).await?;
        rows.first().map_or(ends.start, |(link, _)| *link)
    };
    Ok(Part {
        start,
        to: to.max(start.number),
    })
}

fn write(out: &mut impl Write, line: &Line) -> anyhow::Result<()> {
    let text = terminal::json(serde_json::to_string(line)?);
    Ok(writeln!(out, "{text}")?)
}

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
