//! `gatehouse audit`: verifies the audit log, and exports it, for anyone with access to the database
//! or to an export.

mod export;

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, BufRead, BufReader, Read as _, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use domain::{
    audit::chain::{ChainId, Finding, Link, Walk},
    id::TeamId,
};
use serde_json::json;
use store::{PgConnection, audit};
use uuid::Uuid;

use crate::{config::AnyDatabaseOptions, service, terminal};
use export::Line;

const NAME: &str = "gatehouse audit";

/// Options of `gatehouse audit`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: AnyDatabaseOptions,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check that no entry was changed, removed or inserted. The exit code is 0 if everything is in order
    Verify(VerifyArgs),
    /// Write the entries with their numbers and hashes, one JSON object a line, to standard output
    Export(export::Args),
    /// Seal now what is not sealed yet. API processes do this every few seconds
    Seal,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Verify(args) => return verify(options.database, &args).await,
        Action::Export(args) => export::run(options.database, &args).await?,
        Action::Seal => {
            let located = options.database.locate()?;
            let pool = service::open_current(&located.database, NAME).await?;
            let sealed = audit::sealing::catch_up(&database::for_command(&pool)).await?;
            writeln!(io::stdout(), "sealed {sealed} entries")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A team's chain, or `none`.
fn chain(text: &str) -> Result<ChainId, String> {
    if text == "none" {
        return Ok(ChainId::WITHOUT_TEAM);
    }
    let id: Result<Uuid, _> = text.parse();
    id.map(ChainId::from_uuid).map_err(|_| {
        "must be the id of a team, or `none` for the entries without a team".to_owned()
    })
}

/// Goes through the chains of the database, or only the wanted one.
struct Chains {
    wanted: Option<ChainId>,
    from: Option<ChainId>,
}

impl Chains {
    fn new(wanted: Option<ChainId>) -> Self {
        Self {
            wanted,
            from: Some(ChainId::WITHOUT_TEAM),
        }
    }

    async fn next(&mut self, conn: &mut PgConnection) -> anyhow::Result<Option<ChainId>> {
        let Some(from) = self.from else {
            return Ok(None);
        };
        if self.wanted.is_some() {
            self.from = None;
            return Ok(self.wanted);
        }
        let chain = audit::next(conn, from).await?;
        self.from = chain.and_then(ChainId::successor);
        Ok(chain)
    }
}

#[derive(Debug, Args)]
struct VerifyArgs {
    /// Only the entries of this team, or `none` for those without a team [default: all]
    #[arg(long, value_name = "ID", value_parser = chain)]
    team: Option<ChainId>,
    /// A head of this team's chain that you noted or exported earlier. It shows that the end was cut off, or that everything was
    /// computed again
    #[arg(long, value_name = "NUMBER:HASH", requires = "team")]
    head: Option<Link>,
    /// Verify this export instead of the database
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Print a JSON object for each chain
    #[arg(long)]
    json: bool,
}

async fn verify(database: AnyDatabaseOptions, args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let mut told = Told {
        as_json: args.json,
        chains: 0,
        wrong: 0,
    };
    if let Some(path) = &args.file {
        let name = path.display();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        let file = BufReader::new(file);
        verify_export(file, args.team, args.head, |chain, walk, finding| {
            told.tell(chain, walk, finding)
        })
        .with_context(|| format!("{name} is not a whole export"))?;
        ensure!(told.chains > 0, "{name} does not have such a chain");
    } else {
        let located = database.locate()?;
        let mut conn = service::connect(&located.database, NAME).await?;
        let mut chains = Chains::new(args.team);
        while let Some(chain) = chains.next(&mut conn).await? {
            let report = audit::verify::verify(&mut conn, chain, args.head).await?;
            told.tell(chain, &report.walk, report.finding.as_ref())?;
        }
    }
    told.end()
}

/// What was printed.
struct Told {
    as_json: bool,
    chains: u64,
    wrong: u64,
}

impl Told {
    fn tell(
        &mut self,
        chain: ChainId,
        walk: &Walk,
        finding: Option<&Finding>,
    ) -> anyhow::Result<()> {
        self.chains += 1;
        self.wrong += u64::from(finding.is_some());
        if self.as_json {
            let is_empty = walk.rows() == 0;
            let line = json!({
                "team_id": chain.team().map(TeamId::as_uuid),
                "rows": walk.rows(),
                "from": (!is_empty).then_some(walk.start().number + 1),
                "to": (!is_empty).then_some(walk.at().number),
                "head": walk.at().to_string(),
                "finding": finding.map(ToString::to_string),
                "backdated": walk.backdated(),
            });
            return terminal::print_json(&line);
        }
        Ok(terminal::print(&text(chain, walk, finding))?)
    }

    fn end(&self) -> anyhow::Result<ExitCode> {
        if !self.as_json {
            let text = match (self.chains, self.wrong) {
                (0, _) => "The audit log is empty.".to_owned(),
                (chains, 0) => format!("In order: chains: {chains}."),
                (chains, wrong) => format!("NOT in order: {wrong} of {chains} chains."),
            };
            terminal::print(&format!("{text}\n"))?;
        }
        Ok(if self.wrong == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

fn text(chain: ChainId, walk: &Walk, finding: Option<&Finding>) -> String {
    let mut text = format!("{chain}: ");
    let (from, at) = (walk.start().number + 1, walk.at());
    let _ = match walk.rows() {
        0 => write!(text, "no entries"),
        rows => write!(text, "entries: {rows}, numbers {from} to {}", at.number),
    };
    let _ = match finding {
        None => writeln!(text, ", head {at}"),
        Some(finding) => writeln!(text, " are in order, up to {at}\n  WRONG: {finding}"),
    };
    if let Some(number) = walk.backdated() {
        let _ = writeln!(
            text,
            "  note: row {number} is over an hour older than a row before it. It was added late, or the clock was wrong"
        );
    }
    text
}

/// The longest line: more than any entry has.
const LINE_BYTES: u64 = 256 << 20;

/// A chain that is being read.
struct Reading {
    chain: ChainId,
    walk: Walk,
    finding: Option<Finding>,
}

/// Reads an export line by line, and tells of each chain what was found. `known`: a row of the only
/// chain that is wanted.
///
/// # Errors
/// It is not an export, or its end is missing.
fn verify_export(
    mut lines: impl BufRead,
    wanted: Option<ChainId>,
    known: Option<Link>,
    mut tell: impl FnMut(ChainId, &Walk, Option<&Finding>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut reading: Option<Reading> = None;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        lines
            .by_ref()
            .take(LINE_BYTES)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        let parsed = serde_json::from_slice(&line);
        let parsed = parsed.with_context(|| format!("line {number} is no line of an export"))?;
        reading = take(reading, parsed, known, |ended, head| {
            if wanted.is_some_and(|wanted| wanted != ended.chain) {
                return Ok(());
            }
            let finding = ended.finding.or_else(|| ended.walk.end(head).err());
            tell(ended.chain, &ended.walk, finding.as_ref())
        })
        .with_context(|| format!("line {number}"))?;
    }
    if let Some(Reading { chain, walk, .. }) = reading {
        bail!(
            "the file ends after row {} of {chain}, before its head: its end was cut off",
            walk.at().number
        );
    }
    Ok(())
}

/// Takes a line. `ended` is called with a chain whose head was read.
fn take(
    reading: Option<Reading>,
    line: Line,
    known: Option<Link>,
    ended: impl FnOnce(Reading, Link) -> anyhow::Result<()>,
) -> anyhow::Result<Option<Reading>> {
    match (reading, line) {
        (None, Line::Start(start)) => {
            let walk = Walk::new(start.link()?, known);
            Ok(Some(Reading {
                chain: start.chain(),
                finding: walk.begin().err(),
                walk,
            }))
        }
        (Some(mut reading), Line::Row(row)) => {
            ensure!(
                row.chain() == reading.chain,
                "this entry belongs to another chain than the entries before it"
            );
            let (has, row) = row.parse()?;
            if reading.finding.is_none() {
                reading.finding = reading.walk.step(has, &row).err();
            }
            Ok(Some(reading))
        }
        (Some(reading), Line::Head(head)) => {
            ensure!(
                head.chain() == reading.chain,
                "this head belongs to another chain than the entries before it"
            );
            ended(reading, head.link()?)?;
            Ok(None)
        }
        (None, Line::Row(_) | Line::Head(_)) => bail!("the beginning of a chain is missing"),
        (Some(_), Line::Start(_)) => bail!("the head of the chain before is missing"),
    }
}

#[cfg(test)]
mod tests;
