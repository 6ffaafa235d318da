//! `gatehouse audit export`: the rows of each chain, with its beginning and its head.

use std::io::{self, BufWriter, Write};

use anyhow::ensure;
use chrono::{DateTime, Utc};
use domain::audit::chain::{ChainId, Link};
use store::{
    PgConnection,
    audit::{self, Ends},
};
use uuid::Uuid;

use super::{Chains, NAME, chain, export_line::Line};
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
