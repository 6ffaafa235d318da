//! The file that an archive is downloaded to: where its last whole member ends, and what comes after it.

use std::{
    fs::File,
    io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use domain::id::SiteId;
use management::exports::archive::{Counts, Cursor, END, EXPORT, Part, Scan};
use serde::Deserialize;

/// How an archive begins: the name of its first header.
const BEGINNING: &[u8] = b"pax\0";

/// A file, complete or not.
pub(super) struct Partial {
    path: PathBuf,
    file: File,
    scan: Scan,
    /// Where the last whole member ends.
    end: u64,
    after: Option<Cursor>,
}

/// What the first member says about the export.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) site_id: SiteId,
}

impl Partial {
    /// Opens the file or creates it, and cuts off what is no whole member.
    ///
    /// # Errors
    /// It is something else than an archive.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        let mut partial = Self {
            path: path.to_owned(),
            file,
            scan: Scan::default(),
            end: 0,
            after: None,
        };
        let mut reader = BufReader::with_capacity(1 << 20, partial.file.try_clone()?);
        let mut piece = vec![0; 1 << 20];
        let mut beginning = Vec::new();
        loop {
            let read = reader.read(&mut piece)?;
            if read == 0 {
                break;
            }
            if beginning.is_empty() {
                beginning.extend_from_slice(&piece[..read.min(BEGINNING.len())]);
            }
            partial.follow(&piece[..read])?;
        }
        if !BEGINNING.starts_with(&beginning) {
            bail!(
                "{} is there and is no archive of Gatehouse: choose another name",
                path.display()
            );
        }
        partial.cut()?;
        Ok(partial)
    }

    /// The export that the file is of. None: its first member is not there yet.
    pub(super) fn export(&self) -> anyhow::Result<Option<Head>> {
        #[derive(Deserialize)]
        struct First {
            export: Head,
        }
        if self.after.is_none() {
            return Ok(None);
        }
        let mut archive = tar::Archive::new(File::open(&self.path)?);
        let first = archive.entries()?.next();
        let mut first = first.context("the file has no members")??;
        if first.path()?.to_str() != Some(EXPORT) {
            bail!("{} does not begin with {EXPORT}", self.path.display());
        }
        let mut content = String::new();
        first.read_to_string(&mut content)?;
        let first: First = serde_json::from_str(&content)?;
        Ok(Some(first.export))
    }

    /// Adds bytes that have arrived.
    pub(super) fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file
            .write_all(bytes)
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        self.follow(bytes)
    }

    /// Cuts off what came after the last whole member. The end of a complete file stays.
    pub(super) fn cut(&mut self) -> anyhow::Result<()> {
        if !self.is_complete() {
            self.file.set_len(self.end)?;
        }
        self.file.seek(SeekFrom::End(0))?;
        self.scan = Scan::at(self.end);
        Ok(())
    }

    fn follow(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let seen = self.scan.feed(bytes);
        let seen = seen.with_context(|| format!("{} is unusable", self.path.display()))?;
        if let Some(last) = seen.last() {
            self.end = last.end;
            self.after = Some(last.after);
        }
        Ok(())
    }

    /// Whether the last member is there.
    pub(super) fn is_complete(&self) -> bool {
        self.after.is_some_and(|after| after.part == Part::End)
    }

    /// Where the last whole member ends.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Where to go on.
    pub(super) const fn after(&self) -> Option<Cursor> {
        self.after
    }

    /// What the whole members have.
    pub(super) fn counts(&self) -> Counts {
        self.after.map(|after| after.counts).unwrap_or_default()
    }

    /// Gives a complete file its end, of which the last answer may have lacked a part, and waits until it is on the disk.
    /// Returns its size.
    pub(super) fn finish(&self) -> anyhow::Result<u64> {
        let size = self.end + END as u64;
        self.file.set_len(self.end)?;
        self.file.set_len(size)?;
        self.file.sync_all()?;
        Ok(size)
    }
}
