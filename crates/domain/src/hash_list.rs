//! Entries of hash lists, and how a file of hashes is read: one hash per line, with an optional
//! note after a comma.

use crate::{
    image_hash::{HashAlgorithm, Pdq, Sha256Digest},
    reason::Reason,
};

/// The longest line of a file, in bytes. A longer line is refused.
pub const MAX_LINE_BYTES: usize = 8 << 10;

/// The hashes of one list entry: at least one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntryHashes {
    sha256: Option<Sha256Digest>,
    pdq: Option<Pdq>,
}

impl EntryHashes {
    /// `None` if both are missing.
    pub fn new(sha256: Option<Sha256Digest>, pdq: Option<Pdq>) -> Option<Self> {
        (sha256.is_some() || pdq.is_some()).then_some(Self { sha256, pdq })
    }

    /// The hash of the file.
    pub const fn sha256(&self) -> Option<Sha256Digest> {
        self.sha256
    }

    /// The hash of what it looks like.
    pub const fn pdq(&self) -> Option<Pdq> {
        self.pdq
    }
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The hash.
    pub hashes: EntryHashes,
    /// The note.
    pub note: Option<Reason>,
}

/// Why a line is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It has more than [`MAX_LINE_BYTES`].
    #[error("is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// It is not UTF-8.
    #[error("is not UTF-8")]
    NotUnicode,
    /// It does not begin with a hash.
    #[error("does not begin with a hash of 64 hexadecimal digits")]
    NoHash,
    /// The word before the colon is not a kind of hash.
    #[error("names a kind of hash that is neither `pdq` nor `sha256`")]
    UnknownKind,
    /// The note is not valid.
    #[error("has a note that is longer than 1000 characters or contains NUL")]
    Note,
}

/// Reads a line. A hash can name its kind: `pdq:...` or `sha256:...`. `bare` is the kind of hashes
/// without a name. Empty lines, and lines that begin with `#`, contain nothing.
///
/// # Errors
/// What is wrong with the line, without its content.
pub fn parse_line(line: &[u8], bare: HashAlgorithm) -> Result<Option<Line>, LineFault> {
    if line.len() > MAX_LINE_BYTES {
        return Err(LineFault::TooLong);
    }
    let line = str::from_utf8(line).map_err(|_| LineFault::NotUnicode)?;
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (hash, note) = line.split_once(',').unwrap_or((line, ""));
    let (algorithm, hash) = match unquoted(hash).split_once(':') {
        Some((kind, hash)) => {
            let kind = kind.trim().to_ascii_lowercase();
            (kind.parse().map_err(|_| LineFault::UnknownKind)?, hash)
        }
        None => (bare, unquoted(hash)),
    };
    let (mut sha256, mut pdq) = (None, None);
    let hash = hash.trim();
    match algorithm {
        HashAlgorithm::Sha256 => sha256 = Some(hash.parse().map_err(|_| LineFault::NoHash)?),
        HashAlgorithm::Pdq => pdq = Some(hash.parse().map_err(|_| LineFault::NoHash)?),
    }
    let hashes = EntryHashes::new(sha256, pdq).ok_or(LineFault::NoHash)?;
    let note = match unquoted(note) {
        "" => None,
        note => {
            let note = note.replace("\"\"", "\"");
            Some(Reason::try_from(note).map_err(|_| LineFault::Note)?)
        }
    };
    Ok(Some(Line { hashes, note }))
}

/// A CSV field without surrounding white space and quotes.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    let inner = field
        .strip_prefix('"')
        .and_then(|field| field.strip_suffix('"'));
    inner.unwrap_or(field).trim()
}

#[cfg(test)]
mod tests;
