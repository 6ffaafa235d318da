//! What commands share that go through a file line by line: its lines, the file of results, progress, and the key of the service.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use domain::key::SiteKey;
use serde::de::DeserializeOwned;

/// An inline image of 10 MB is 14 MB of base64. A longer line cannot be accepted.
const LONGEST: u64 = 16 << 20;

/// A line to submit.
#[derive(Debug)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Without the line break.
    pub(super) text: String,
    /// The place of its end in the file, in bytes.
    pub(super) ends_at: u64,
}

/// All lines but empty ones, in their order.
pub(super) struct Lines {
    name: String,
    reader: BufReader<File>,
    bytes: u64,
    number: u64,
    ends_at: u64,
}

impl Lines {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        Ok(Self {
            bytes: file.metadata()?.len(),
            reader: BufReader::with_capacity(1 << 16, file),
            name,
            number: 0,
            ends_at: 0,
        })
    }

    /// The size of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&mut self) -> anyhow::Result<Option<Line>> {
        loop {
            let mut bytes = Vec::new();
            let read = self
                .reader
                .by_ref()
                .take(LONGEST)
                .read_until(b'\n', &mut bytes);
            let read = read.with_context(|| format!("cannot read {}", self.name))? as u64;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.ends_at += read;
            let place = format!("line {} of {}", self.number, self.name);
            anyhow::ensure!(
                read < LONGEST || bytes.ends_with(b"\n"),
                "{place} is longer than {} MiB",
                LONGEST >> 20
            );
            let text = String::from_utf8(bytes);
            let text = text.map_err(|_| anyhow::anyhow!("{place} is not UTF-8"))?;
            let text = text.trim();
            if !text.is_empty() {
                return Ok(Some(Line {
                    number: self.number,
                    text: text.to_owned(),
                    ends_at: self.ends_at,
                }));
            }
        }
    }
}

impl Iterator for Lines {
    type Item = anyhow::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// How often progress is shown.
pub(super) const SHOWN_EVERY: Duration = Duration::from_secs(5);

/// How many `things` are done, how much of a file of this many bytes is read, and how fast it goes.
#[expect(
    clippy::cast_precision_loss,
    reason = "a percentage and a rate for people"
)]
pub(super) fn so_far(things: &str, done: u64, took: Duration, ends_at: u64, bytes: u64) -> String {
    format!(
        "{done} {things}, {:.0} % of the file, {:.1} {things}/s",
        100.0 * ends_at as f64 / bytes.max(1) as f64,
        done as f64 / took.as_secs_f64()
    )
}

/// Opens a file of results, a JSON object on each line, to append to, and reads what is there. A last line that was cut off is removed.
///
/// # Errors
/// The file cannot be read or written, or has other lines.
pub(super) fn open_results<T: DeserializeOwned>(
    path: &Path,
) -> anyhow::Result<(BufWriter<File>, Vec<T>)> {
    let name = path.display();
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path);
    let mut file = file.with_context(|| format!("cannot write {name}"))?;
    let (mut rows, mut whole) = (Vec::new(), 0);
    let mut reader = BufReader::new(&mut file);
    let mut text = Vec::new();
    loop {
        text.clear();
        let read = reader.read_until(b'\n', &mut text)? as u64;
        if !text.ends_with(b"\n") {
            break;
        }
        let Ok(row) = serde_json::from_slice(&text) else {
            anyhow::bail!("{name} has other lines than this command writes: choose another file");
        };
        rows.push(row);
        whole += read;
    }
    file.set_len(whole)?;
    file.seek(SeekFrom::End(0))?;
    Ok((BufWriter::new(file), rows))
}

/// The site key in this file.
///
/// # Errors
/// The file cannot be read, or has no site key.
pub(super) fn read_site_key(file: &Path) -> anyhow::Result<SiteKey> {
    let key = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the key {}", file.display()))?;
    key.trim().parse().map_err(|_| {
        let file = file.display();
        anyhow::anyhow!("{file} has no site key: one begins with site_")
    })
}
