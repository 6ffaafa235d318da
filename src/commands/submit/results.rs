//! The file of results: a JSON object on each line.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::service::Ended;
use crate::commands::{input_lines::Line, result_file};

/// The status of an item without a verdict, in both spellings of a site.
const PENDING: &str = "pending";

/// The results so far.
pub(super) struct Results {
    file: BufWriter<File>,
    known: HashSet<u64>,
    summary: Summary,
}

/// How many results there are of each kind: a status, or the code of a refusal.
#[derive(Debug, Default)]
pub(super) struct Summary {
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
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let (file, results) = result_file::open::<Known>(path)?;
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

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// The numbers of the lines that had a result when the file was opened.
    pub(super) fn known(&self) -> HashSet<u64> {
        self.known.clone()
    }

    pub(super) fn add(&mut self, line: &Line, ended: &Ended) -> anyhow::Result<()> {
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

    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        self.file.flush().context("cannot write the results")
    }

    pub(super) fn summary(&self) -> &Summary {
        &self.summary
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

    pub(super) fn has_refusals(&self) -> bool {
        !self.refusals.is_empty()
    }

    /// Whether items have no verdict yet, or something of them was not checked.
    pub(super) fn has_unchecked(&self) -> bool {
        self.unchecked > 0 || self.statuses.contains_key(PENDING)
    }

    pub(super) fn to_json(&self) -> Value {
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
        assert_eq!(results.known(), HashSet::from([1]));
        results.add(&line(2), &approved).unwrap();
        results.flush().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), whole);
        assert_eq!(
            Results::open(&path).unwrap().summary().to_string(),
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
