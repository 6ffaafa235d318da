//! The file of scores: a JSON object on each line. It has no texts, only a hash of each, so that scores of another text are noticed.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::sample::Scores;
use crate::commands::line_files::open_results;

/// The scores of a line.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Row {
    line: u64,
    /// The other service: scores of two are not comparable.
    there: String,
    /// This service.
    here: String,
    /// A hash of the text.
    text: String,
    pub(super) theirs: Scores,
    pub(super) ours: Scores,
}

fn hash(text: &str) -> String {
    hex::encode(&Sha256::digest(text.as_bytes())[..16])
}

/// Scores that are known, and the file that they are kept in.
#[derive(Default)]
pub(super) struct ScoresFile {
    file: Option<BufWriter<File>>,
    name: String,
}

/// The scores of an earlier run, by line.
pub(super) struct Known {
    rows: HashMap<u64, Row>,
    name: String,
    there: String,
    here: String,
}

impl ScoresFile {
    /// Reads what is there. Without a path, nothing is known, and nothing is kept.
    pub(super) fn open(
        path: Option<&Path>,
        there: String,
        here: String,
    ) -> anyhow::Result<(Self, Known)> {
        let (mut scores, mut rows) = (Self::default(), HashMap::new());
        if let Some(path) = path {
            let (file, read) = open_results::<Row>(path)?;
            scores.file = Some(file);
            scores.name = path.display().to_string();
            // The last ones of a line are the newest.
            rows = read.into_iter().map(|row| (row.line, row)).collect();
        }
        let known = Known {
            rows,
            name: scores.name.clone(),
            there,
            here,
        };
        Ok((scores, known))
    }

    pub(super) fn add(&mut self, row: &Row) -> anyhow::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let row = serde_json::to_string(row)?;
        writeln!(file, "{row}").with_context(|| format!("cannot write {}", self.name))
    }

    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.flush()
            .with_context(|| format!("cannot write {}", self.name))
    }
}

impl Known {
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// New scores of a text.
    pub(super) fn row(&self, line: u64, text: &str, theirs: Scores, ours: Scores) -> Row {
        Row {
            line,
            there: self.there.clone(),
            here: self.here.clone(),
            text: hash(text),
            theirs,
            ours,
        }
    }

    /// The scores of this text.
    ///
    /// # Errors
    /// The file has scores of another text for this line, or of another service.
    pub(super) fn of(&self, line: u64, text: &str) -> anyhow::Result<Option<&Row>> {
        let row = self.theirs_of(line, text)?;
        if let Some(row) = row {
            ensure!(
                row.here == self.here,
                "{} has scores of {} for line {line}: choose another file, or give --again-here",
                self.name,
                row.here
            );
        }
        Ok(row)
    }

    /// The scores that the other service gave this text, whatever this one did.
    ///
    /// # Errors
    /// As of [`Self::of`], but for the other service only.
    pub(super) fn theirs_of(&self, line: u64, text: &str) -> anyhow::Result<Option<&Row>> {
        let Some(row) = self.rows.get(&line) else {
            return Ok(None);
        };
        ensure!(
            row.text == hash(text) && row.there == self.there,
            "{} has scores of another text or another service for line {line}: choose another file",
            self.name
        );
        Ok(Some(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_known_for_the_same_text_and_service_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores.ndjson");
        let open = |there: &str, here: &str| {
            ScoresFile::open(Some(&path), there.to_owned(), here.to_owned()).unwrap()
        };
        let theirs = Scores::from([("hate".to_owned(), 0.123_456_789_012_345_6)]);
        let (mut file, known) = open("openai", "here");
        assert_eq!(known.count(), 0);
        let row = known.row(3, "a secret text", theirs.clone(), Scores::new());
        file.add(&row).unwrap();
        file.flush().unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains("secret"));

        let known = open("openai", "here").1;
        let found = known.of(3, "a secret text").unwrap().unwrap();
        assert_eq!(found.theirs, theirs);
        assert!(known.of(4, "a secret text").unwrap().is_none());
        assert!(known.of(3, "another text").is_err());
        let elsewhere = open("openai", "elsewhere").1;
        assert!(elsewhere.of(3, "a secret text").is_err());
        assert!(elsewhere.theirs_of(3, "a secret text").unwrap().is_some());
        let others = open("perspective", "here").1;
        assert!(others.theirs_of(3, "a secret text").is_err());
    }

    #[test]
    fn the_newest_scores_of_a_line_count() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores.ndjson");
        let open =
            || ScoresFile::open(Some(&path), "openai".to_owned(), "here".to_owned()).unwrap();
        let (mut file, known) = open();
        for score in [0.1, 0.2] {
            let ours = Scores::from([("hate".to_owned(), score)]);
            file.add(&known.row(1, "text", Scores::new(), ours))
                .unwrap();
        }
        file.flush().unwrap();
        let known = open().1;
        let row = known.of(1, "text").unwrap().unwrap();
        assert_eq!(row.ours, Scores::from([("hate".to_owned(), 0.2)]));
    }
}
