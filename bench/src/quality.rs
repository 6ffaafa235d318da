//! How good the built-in analyser is on texts whose labels are known: the owner's own, or a public set. For each category and
//! language: the average precision, precision and recall for thresholds, and whether scores are probabilities.
//!
//! It needs no database. It reads line by line, and keeps only scores and labels.

mod calibration;
mod collected_scores;
mod figures;
mod ranking;
mod rows;
mod table;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use builtin::Analyser;
use builtin::text::Encoder;
use clap::Args;
use domain::score::Scores;

pub(crate) use self::figures::Measured;
use self::{collected_scores::CollectedScores, rows::Rows};

/// After so many rows, progress is told.
const PROGRESS: u64 = 10_000;

/// Options of `quality`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The labelled texts: a JSON object on each line with `text`, `labels` and perhaps `language`; `-` reads standard input
    #[arg(long)]
    file: PathBuf,
    /// An encoder's file: score as a service does that has this `encoder_file`
    #[arg(long)]
    encoder: Option<PathBuf>,
    /// Thresholds to give precision and recall for, from 0 to 1
    #[arg(long, value_delimiter = ',', value_parser = threshold, default_value = "0.1,0.3,0.5,0.7,0.85")]
    thresholds: Vec<f64>,
    /// Resamples for the intervals
    #[arg(long, default_value_t = 1_000)]
    resamples: usize,
    /// Equal seeds give equal intervals
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What scores the texts. No other place here knows the analyser.
fn scorer(encoder: Option<&Path>) -> anyhow::Result<impl Fn(&str) -> Scores> {
    let mut analyser = Analyser::new();
    if let Some(file) = encoder {
        let name = file.display();
        let bytes = fs::read(file).with_context(|| format!("cannot read {name}"))?;
        let encoder = Encoder::read(&bytes).with_context(|| name.to_string())?;
        analyser = analyser.with_encoder(Arc::new(encoder));
    }
    Ok(move |text: &str| analyser.analyse(text))
}

/// Scores the file, and calculates the figures.
pub(crate) async fn run(options: Options) -> anyhow::Result<Measured> {
    // On another thread, so that Ctrl-C ends it.
    tokio::task::spawn_blocking(move || {
        let scorer = scorer(options.encoder.as_deref())?;
        let file = &options.file;
        if file.as_os_str() == "-" {
            return measure(io::stdin().lock(), "standard input", &options, scorer);
        }
        let name = file.display().to_string();
        let opened = File::open(file).with_context(|| format!("cannot open {name}"))?;
        measure(BufReader::new(opened), &name, &options, scorer)
    })
    .await?
}

/// Scores all rows. `name` is the input's name in errors.
fn measure(
    input: impl BufRead,
    name: &str,
    options: &Options,
    score: impl Fn(&str) -> Scores,
) -> anyhow::Result<Measured> {
    let mut collected = CollectedScores::default();
    for row in Rows::new(input) {
        let row = row.with_context(|| name.to_owned())?;
        let scores = score(&row.text);
        collected.add(&row, &scores);
        if collected.rows().is_multiple_of(PROGRESS) {
            eprintln!("{} rows scored", collected.rows());
        }
    }
    anyhow::ensure!(
        collected.rows() > 0,
        "{name} has no rows; write a JSON object on each line, such as {}",
        rows::EXAMPLE
    );
    Ok(Measured::new(&collected, options))
}

/// A threshold from 0 to 1.
fn threshold(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .trim()
        .parse()
        .map_err(|_| "must be a number from 0 to 1, such as 0.5".to_owned())?;
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err("must be from 0 to 1".to_owned())
    }
}
