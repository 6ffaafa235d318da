//! The sample: the texts of the file, the scores that both services gave them, and the file that keeps these. It has no texts, only a hash
//! of each, so that scores of another text are noticed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::{Context as _, ensure};
use domain::lone_surrogates::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::matching_threshold::Pair;
use crate::commands::line_files::open_results;

/// Scores of a text by category.
pub(super) type Scores = BTreeMap<String, f64>;

/// What a line has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// It has no text, for example only an image.
    NoText,
    /// It is not a JSON object.
    Invalid,
}

impl Content {
    /// Reads a line as `gatehouse submit` does. Only its text counts here.
    pub(super) fn of(line: &str) -> Self {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            body: Option<&'a RawValue>,
        }
        if !line.starts_with('{') {
            return Self::Invalid;
        }
        let Ok(Members { body }) = serde_json::from_str(line) else {
            return Self::Invalid;
        };
        let Some(body) = body else {
            return Self::NoText;
        };
        match JsonText::read(body) {
            Some(JsonText { text, .. }) if text.trim().is_empty() => Self::NoText,
            Some(JsonText { text, .. }) => Self::Text(text),
            None => Self::Invalid,
        }
    }
}

/// The scores of all texts so far.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// Texts that both services answered.
    pub(super) texts: u64,
    pub(super) categories: BTreeMap<String, Category>,
}

/// The scores of a category.
#[derive(Debug, Default)]
pub(super) struct Category {
    /// Of the texts that both scored.
    pub(super) pairs: Vec<Pair>,
    /// Of the texts that only they scored.
    pub(super) only_theirs: Vec<f64>,
    /// How many texts only we scored.
    pub(super) only_ours: u64,
}

impl Sample {
    pub(super) fn add(&mut self, theirs: &Scores, ours: &Scores) {
        self.texts += 1;
        let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        for name in names {
            if !self.categories.contains_key(name) {
                self.categories.insert(name.clone(), Category::default());
            }
            let Some(category) = self.categories.get_mut(name) else {
                continue;
            };
            match (theirs.get(name).copied(), ours.get(name).copied()) {
                (Some(theirs), Some(ours)) => category.pairs.push(Pair { theirs, ours }),
                (Some(theirs), None) => category.only_theirs.push(theirs),
                (None, _) => category.only_ours += 1,
            }
        }
    }
}

/// The lines that do not count, by the reason.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub(super) no_text: u64,
    pub(super) invalid: u64,
    /// By the code of the refusal.
    pub(super) refused_there: BTreeMap<String, u64>,
    pub(super) refused_here: BTreeMap<String, u64>,
}

impl Skipped {
    /// Whether there are lines with a mistake.
    pub(super) fn has_refusals(&self) -> bool {
        self.invalid > 0 || !self.refused_there.is_empty() || !self.refused_here.is_empty()
    }
}

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
    fn only_the_text_of_a_line_counts() {
        for (line, content) in [
            (
                r#"{"body":"hello","app_media_id":"1"}"#,
                Content::Text("hello".to_owned()),
            ),
            (
                r#"{"body":"see you \ud83d"}"#,
                Content::Text("see you \u{fffd}".to_owned()),
            ),
            (r#"{"body":" "}"#, Content::NoText),
            (r#"{"body":null}"#, Content::NoText),
            (
                r#"{"content_url":"https://example.com/a.png"}"#,
                Content::NoText,
            ),
            (r#"{"body":7}"#, Content::Invalid),
            ("[]", Content::Invalid),
            ("hello", Content::Invalid),
        ] {
            assert_eq!(Content::of(line), content, "{line}");
        }
    }

    #[test]
    fn a_category_without_a_score_is_no_category_with_the_score_0() {
        let scores = |scores: &[(&str, f64)]| -> Scores {
            scores
                .iter()
                .map(|(name, score)| ((*name).to_owned(), *score))
                .collect()
        };
        let mut sample = Sample::default();
        sample.add(
            &scores(&[("hate", 0.1), ("gore", 0.9)]),
            &scores(&[("hate", 0.2), ("spam", 0.3)]),
        );
        sample.add(&scores(&[("hate", 0.8)]), &Scores::new());
        assert_eq!(sample.texts, 2);
        let hate = &sample.categories["hate"];
        assert_eq!(
            (hate.pairs.len(), hate.only_theirs.len(), hate.only_ours),
            (1, 1, 0)
        );
        let gore = &sample.categories["gore"];
        assert_eq!(
            (gore.pairs.len(), gore.only_theirs.len(), gore.only_ours),
            (0, 1, 0)
        );
        let spam = &sample.categories["spam"];
        assert_eq!(
            (spam.pairs.len(), spam.only_theirs.len(), spam.only_ours),
            (0, 0, 1)
        );
    }

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
