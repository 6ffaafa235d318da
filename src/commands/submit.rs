//! `gatehouse submit`: submits a file of texts, one JSON object on each line, and writes a verdict for each. It keeps to the service's
//! limits, and goes on where it was when it is run again.

mod results;
mod service;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use serde_json::json;
use url::Url;

use super::{
    input_lines::Lines,
    progress::{SHOWN_EVERY, so_far},
    site_key,
};
use crate::{
    config::service_url,
    terminal::{self, tell},
};
use results::Results;
use service::Service;

/// When lines were refused.
const REFUSED: u8 = 2;
/// When no line was refused, but items have no verdict yet, or something of them was not checked.
const UNCHECKED: u8 = 3;

/// The options of `gatehouse submit`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The service, for example <https://gatehouse.example.com>
    #[arg(long, value_name = "URL", value_parser = service_url)]
    url: Url,
    /// A file with the site key
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// What to submit: a JSON object on each line, with the members of `submit-media` except `api_key`
    #[arg(long, value_name = "FILE.ndjson")]
    file: PathBuf,
    /// Where the verdicts go: a JSON object on each line, as they come, with the number of the line. If the file is there, its lines are
    /// not submitted again
    #[arg(long, value_name = "FILE.ndjson")]
    results: PathBuf,
    /// Submissions at the same time
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    connections: u16,
    /// How many seconds to wait for the verdict of one item. After them, its result is `pending`
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    patience: u64,
    /// A name of this run. The same line of the same run is never submitted twice within 24 hours. Give another name to submit a
    /// file again, for example after its rules have changed
    #[arg(long, value_name = "NAME", default_value = "")]
    run: String,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Submits all lines that have no result yet.
///
/// # Errors
/// A file cannot be read or written; the service refuses the key, or everything from it; it fails for too long.
pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let key = site_key::read(&args.key_file)?;
    let mut results = Results::open(&args.results)?;
    let lines = Lines::open(&args.file)?;
    let bytes = lines.bytes();
    let patience = Duration::from_secs(args.patience);
    let service = Service::new(&args.url, &key, args.run, patience)?;
    if results.count() > 0 {
        tell(&format!("{} lines have results already", results.count()));
    }

    let begun = Instant::now();
    let (mut shown, mut submitted) = (begun, 0_u64);
    {
        let service = &service;
        let known = results.known();
        let wanted = lines.filter(|line| match line {
            Ok(line) => !known.contains(&line.number),
            Err(_) => true,
        });
        let mut ended = futures::stream::iter(wanted)
            .map(async |line| {
                let line = line?;
                let ended = service.submit(&line).await?;
                anyhow::Ok((line, ended))
            })
            .buffer_unordered(args.connections.into());
        while let Some(next) = ended.next().await {
            let (line, ended) = match next {
                Ok(next) => next,
                Err(error) => {
                    results.flush()?;
                    return Err(error.context(format!(
                        "{submitted} lines were submitted, and their results are kept: run the command again to go on"
                    )));
                }
            };
            results.add(&line, &ended)?;
            submitted += 1;
            if shown.elapsed() >= SHOWN_EVERY {
                shown = Instant::now();
                results.flush()?;
                let took = begun.elapsed();
                tell(&so_far("lines", submitted, took, line.ends_at, bytes));
            }
        }
    }
    results.flush()?;
    let summary = results.summary();
    if args.json {
        let summary = json!({
            "submitted": submitted,
            "seconds": begun.elapsed().as_secs_f64(),
            "results": summary.to_json(),
        });
        terminal::print_json(&summary)?;
    } else {
        terminal::print(&format!(
            "{submitted} lines submitted in {:.0} s. {}\n",
            begun.elapsed().as_secs_f64(),
            terminal::line(&summary.to_string())
        ))?;
    }
    Ok(if summary.has_refusals() {
        ExitCode::from(REFUSED)
    } else if summary.has_unchecked() {
        ExitCode::from(UNCHECKED)
    } else {
        ExitCode::SUCCESS
    })
}
