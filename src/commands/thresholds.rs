//! `gatehouse thresholds`: scores a file of texts with another service and with this one, and prints for each category the threshold
//! here that selects as many texts as the user's threshold there, and how far both agree.

mod api_errors;
mod args;
mod matching_threshold;
mod openai;
mod perspective;
mod report;
mod sample;
mod service;

use std::{collections::BTreeMap, pin::pin, process::ExitCode, time::Instant};

use anyhow::Context as _;
use futures::StreamExt as _;

use super::line_files::{Line, Lines, SHOWN_EVERY, so_far};
use crate::{
    config,
    terminal::{self, tell},
};
use args::Source;
use report::Report;
use sample::{Content, Known, Row, Sample, ScoresFile, Skipped};
use service::Service;

pub(crate) use args::Args;

/// The threshold of a category that the user does not name.
const DEFAULT: f64 = 0.5;
/// When lines were refused.
const REFUSED: u8 = 2;
/// After Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// What became of a line.
enum Ended {
    Scored { row: Row, is_known: bool },
    RefusedThere(String),
    RefusedHere(String),
    NoText,
    Invalid,
}

/// Why the command goes no further.
enum Stopped {
    AtTheEnd,
    Interrupted,
    Failed(anyhow::Error),
}

/// What has been found so far.
struct Run<'a> {
    from: Source,
    again_here: bool,
    thresholds: &'a BTreeMap<String, f64>,
    file: ScoresFile,
    sample: Sample,
    skipped: Skipped,
    /// Texts that were sent.
    sent: u64,
}

/// Scores the texts, and prints the thresholds.
///
/// # Errors
/// A file cannot be read or written; a key is missing; a service refuses its key or every text, or fails for too long. What was scored
/// before is printed nevertheless.
pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let keys = (
        config::site_key()?,
        config::foreign_key(args.key_variable())?,
    );
    let thresholds = args.thresholds()?;
    let (theirs, ours) = args.services(keys, &thresholds)?;
    let lines = Lines::open(&args.file)?;
    let (file, known) =
        ScoresFile::open(args.scores.as_deref(), args.there(), args.url.to_string())?;
    if known.count() > 0 {
        tell(&format!("{} texts have scores already", known.count()));
    }
    let [there, here] = [&theirs, &ours].map(|service| service.url.origin().ascii_serialization());
    tell(&format!(
        "the texts go to {there}, which may charge for them, and to {here}, where they become items of the site"
    ));
    let mut run = Run {
        from: args.from,
        again_here: args.again_here,
        thresholds: &thresholds,
        file,
        sample: Sample::default(),
        skipped: Skipped::default(),
        sent: 0,
    };
    let stopped = run
        .until_stopped((&theirs, &ours), &known, lines, args.connections.into())
        .await?;
    run.file.flush()?;
    let report = Report::new(
        (args.from.name(), args.from.as_str()),
        matches!(stopped, Stopped::AtTheEnd),
        &run.sample,
        &run.skipped,
        &thresholds,
        DEFAULT,
    );
    let has_failed = matches!(stopped, Stopped::Failed(_));
    if !has_failed || run.sample.texts > 0 {
        if args.json {
            terminal::print_json(&report.to_json())?;
        } else {
            terminal::print(&report.to_text())?;
        }
    }
    match stopped {
        Stopped::Failed(error) => Err(error),
        Stopped::Interrupted => Ok(ExitCode::from(INTERRUPTED)),
        Stopped::AtTheEnd if run.sample.texts == 0 => {
            anyhow::bail!("no text has scores of both services")
        }
        Stopped::AtTheEnd if run.skipped.has_refusals() => Ok(ExitCode::from(REFUSED)),
        Stopped::AtTheEnd => Ok(ExitCode::SUCCESS),
    }
}

impl Run<'_> {
    /// Scores all lines, until a service fails or somebody presses Ctrl-C.
    async fn until_stopped(
        &mut self,
        services: (&Service, &Service),
        known: &Known,
        lines: Lines,
        connections: usize,
    ) -> anyhow::Result<Stopped> {
        let (begun, bytes) = (Instant::now(), lines.bytes());
        let mut shown = begun;
        let again_here = self.again_here;
        let mut interrupt = pin!(tokio::signal::ctrl_c());
        let mut ended = futures::stream::iter(lines)
            .map(async |line| {
                let line = line?;
                let ended = score(services, known, again_here, &line).await?;
                anyhow::Ok((line, ended))
            })
            .buffer_unordered(connections);
        loop {
            let next = tokio::select! {
                biased;
                interrupted = &mut interrupt => {
                    interrupted.context("cannot wait for Ctrl-C")?;
                    return Ok(Stopped::Interrupted);
                }
                next = ended.next() => next,
            };
            let (line, ended) = match next {
                None => return Ok(Stopped::AtTheEnd),
                Some(Ok(next)) => next,
                Some(Err(error)) => return Ok(Stopped::Failed(error)),
            };
            if let Err(error) = self.add(ended) {
                return Ok(Stopped::Failed(error));
            }
            if shown.elapsed() >= SHOWN_EVERY {
                shown = Instant::now();
                self.file.flush()?;
                tell(&so_far(
                    "texts",
                    self.sent,
                    begun.elapsed(),
                    line.ends_at,
                    bytes,
                ));
            }
        }
    }

    fn add(&mut self, ended: Ended) -> anyhow::Result<()> {
        match ended {
            Ended::Scored { row, is_known } => {
                self.check_names(&row)?;
                self.sample.add(&row.theirs, &row.ours);
                if !is_known {
                    self.file.add(&row)?;
                    self.sent += 1;
                }
            }
            Ended::RefusedThere(code) => *self.skipped.refused_there.entry(code).or_default() += 1,
            Ended::RefusedHere(code) => *self.skipped.refused_here.entry(code).or_default() += 1,
            Ended::NoText => self.skipped.no_text += 1,
            Ended::Invalid => self.skipped.invalid += 1,
        }
        Ok(())
    }

    /// A wrong name is told with the first text, and not after the last. OpenAI scores every text for all of its categories.
    fn check_names(&self, row: &Row) -> anyhow::Result<()> {
        if self.from != Source::Openai {
            return Ok(());
        }
        let mut names = self.thresholds.keys();
        if let Some(wrong) = names.find(|name| !row.theirs.contains_key(*name)) {
            let names: Vec<&str> = row.theirs.keys().map(String::as_str).collect();
            anyhow::bail!(
                "OpenAI has no score for {wrong}, but for {}",
                names.join(", ")
            );
        }
        Ok(())
    }
}

/// Asks them first: what they refuse needs no item here.
async fn score(
    (theirs, ours): (&Service, &Service),
    known: &Known,
    again_here: bool,
    line: &Line,
) -> anyhow::Result<Ended> {
    let text = match Content::of(&line.text) {
        Content::Text(text) => text,
        Content::NoText => return Ok(Ended::NoText),
        Content::Invalid => return Ok(Ended::Invalid),
    };
    if !again_here && let Some(row) = known.of(line.number, &text)? {
        return Ok(Ended::Scored {
            row: row.clone(),
            is_known: true,
        });
    }
    let place = format!("line {}", line.number);
    let known_theirs = if again_here {
        known.theirs_of(line.number, &text)?
    } else {
        None
    };
    let theirs = match known_theirs {
        Some(row) => row.theirs.clone(),
        None => match theirs.score(&place, &text).await? {
            Ok(scores) => scores,
            Err(code) => return Ok(Ended::RefusedThere(code)),
        },
    };
    let ours = match ours.score(&place, &text).await? {
        Ok(scores) => scores,
        Err(code) => return Ok(Ended::RefusedHere(code)),
    };
    Ok(Ended::Scored {
        row: known.row(line.number, &text, theirs, ours),
        is_known: false,
    })
}
