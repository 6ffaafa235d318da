//! `gatehouse submit`: submits a file of texts, one JSON object on each line, and writes a verdict for each. It keeps to the service's
//! limits, and goes on where it was when it is run again.

mod service;

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use futures::StreamExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::line_files::{Line, Lines, SHOWN_EVERY, open_results, read_site_key, so_far};
use crate::{
    config::service_url,
    terminal::{self, tell},
};
use service::{Ended, Service};

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
    let key = read_site_key(&args.key_file)?;
    let mut results = Results::open(&args.results)?;
    let lines = Lines::open(&args.file)?;
    let bytes = lines.bytes();
    let patience = Duration::from_secs(args.patience);
    let service = Service::new(&args.url, &key, args.run, patience)?;
    if !results.known.is_empty() {
        tell(&format!(
            "{} lines have results already",
            results.known.len()
        ));
    }

    let begun = Instant::now();
    let (mut shown, mut submitted) = (begun, 0_u64);
    {
        let service = &service;
        let known = results.known.clone();
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
    let summary = &results.summary;
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

/// The status of an item without a verdict, in both spellings of a site.
const PENDING: &str = "pending";

/// The results so far.
struct Results {
    file: BufWriter<File>,
    /// The numbers of the lines that had a result when the file was opened.
    known: HashSet<u64>,
    summary: Summary,
}

/// How many results there are of each kind: a status, or the code of a refusal.
#[derive(Debug, Default)]
struct Summary {
    statuses: BTreeMap<String, u64>,
    refusals: BTreeMap<String, u64>,
    /// Items with a verdict of which something was not checked.
    unchecked: u64,
}

#[derive(Deserialize)]
struct Known {
    line: u64,
    status: Option<String>,
    code: Option<String>,
    #[serde(rename = "moderationResult")]
    details: Option<Value>,
}

impl Results {
    /// Reads what is there. A last line that was cut off is removed.
    fn open(path: &Path) -> anyhow::Result<Self> {
        let (file, results) = open_results::<Known>(path)?;
        let (mut known, mut summary) = (HashSet::new(), Summary::default());
        for result in results {
            ensure!(
                known.insert(result.line),
                "{} has two results for line {}: choose another file",
                path.display(),
                result.line
            );
            summary.add(
                result.status.as_deref(),
                result.code.as_deref(),
                result.details.as_ref(),
            );
        }
        Ok(Self {
            file,
            known,
            summary,
        })
    }

    fn add(&mut self, line: &Line, ended: &Ended) -> anyhow::Result<()> {
        let mut result = json!({ "line": line.number });
        match ended {
            Ended::Answered(answer) => {
                for member in ["id", "status", "action", "moderationResult"] {
                    if let Some(value) = answer.get(member).filter(|value| !value.is_null()) {
                        result[member] = value.clone();
                    }
                }
            }
            Ended::Refused { code, detail } => {
                result["code"] = code.as_str().into();
                result["detail"] = detail.as_str().into();
            }
        }
        if let Some(own) = own_id(&line.text) {
            result["app_media_id"] = own.into();
        }
        self.summary.add(
            result["status"].as_str(),
            result["code"].as_str(),
            result.get("moderationResult"),
        );
        writeln!(self.file, "{result}").context("cannot write the results")?;
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        self.file.flush().context("cannot write the results")
    }
}

/// The application's identifier of the item, so that results can be joined without the numbers of lines.
fn own_id(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Members {
        app_media_id: String,
    }
    let members: Option<Members> = serde_json::from_str(line).ok();
    members.map(|members| members.app_media_id)
}

impl Summary {
    fn add(&mut self, status: Option<&str>, code: Option<&str>, details: Option<&Value>) {
        let unchecked = details.and_then(|details| details["unchecked"].as_array());
        self.unchecked += u64::from(unchecked.is_some_and(|unchecked| !unchecked.is_empty()));

        let (counts, kind) = match (status, code) {
            (Some(status), _) => (&mut self.statuses, status),
            (None, code) => (&mut self.refusals, code.unwrap_or("unknown")),
        };
        *counts.entry(kind.to_owned()).or_default() += 1;
    }

    fn has_refusals(&self) -> bool {
        !self.refusals.is_empty()
    }

    /// Whether items have no verdict yet, or something of them was not checked.
    fn has_unchecked(&self) -> bool {
        self.unchecked > 0 || self.statuses.contains_key(PENDING)
    }

    fn to_json(&self) -> Value {
        json!({ "statuses": self.statuses, "unchecked": self.unchecked, "refusals": self.refusals })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |counts: &BTreeMap<String, u64>| {
            let counts = counts.iter().map(|(kind, count)| format!("{count} {kind}"));
            counts.collect::<Vec<_>>().join(", ")
        };
        if self.statuses.is_empty() {
            write!(f, "No verdicts")?;
        } else {
            write!(f, "All results: {}", named(&self.statuses))?;
        }
        match self.unchecked {
            0 => {}
            1 => write!(f, "; of 1 of them, not everything was checked")?,
            more => write!(f, "; of {more} of them, not everything was checked")?,
        }
        if !self.refusals.is_empty() {
            write!(f, "; refused: {}", named(&self.refusals))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64) -> Line {
        Line {
            number,
            text: json!({ "body": "hello", "app_media_id": format!("own-{number}") }).to_string(),
            ends_at: 0,
        }
    }

    #[test]
    fn a_result_that_was_cut_off_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.ndjson");
        let mut results = Results::open(&path).unwrap();
        let approved = Ended::Answered(json!({ "id": "x", "status": "approved" }));
        results.add(&line(1), &approved).unwrap();
        results.add(&line(2), &approved).unwrap();
        results.flush().unwrap();
        drop(results);
        let whole = std::fs::metadata(&path).unwrap().len();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(whole - 5)
            .unwrap();

        let mut results = Results::open(&path).unwrap();
        assert_eq!(results.known, HashSet::from([1]));
        results.add(&line(2), &approved).unwrap();
        results.flush().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), whole);
        assert_eq!(
            Results::open(&path).unwrap().summary.to_string(),
            "All results: 2 approved"
        );
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("texts.ndjson");
        std::fs::write(&path, "{ \"body\": \"hello\" }\n").unwrap();
        let error = Results::open(&path).err().unwrap();
        assert!(error.to_string().contains("choose another file"), "{error}");
    }
}
