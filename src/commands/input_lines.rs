//! The lines of the file.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
};

use anyhow::Context as _;

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
