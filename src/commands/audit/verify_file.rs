//! Verifies an export, without a database.

use std::io::{BufRead, Read as _};

use anyhow::{Context as _, bail, ensure};
use domain::audit::chain::{ChainId, Finding, Link, Walk};

use super::export_line::Line;

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
pub(super) fn verify(
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
