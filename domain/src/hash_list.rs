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
mod tests {
    use super::*;

    const HASH: &str = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22";

    fn read(line: &str) -> Result<Option<Line>, LineFault> {
        parse_line(line.as_bytes(), HashAlgorithm::Pdq)
    }

    #[test]
    fn a_line_is_a_hash_and_perhaps_a_word_about_it() {
        let upper = HASH.to_uppercase();
        for (line, is_pdq, note) in [
            (HASH.to_owned(), true, None),
            (format!("{upper}\r"), true, None),
            (format!("\u{feff}{HASH},"), true, None),
            (
                format!(" {HASH} , from a report, twice "),
                true,
                Some("from a report, twice"),
            ),
            (
                format!("\"{HASH}\",\"said \"\"no\"\"\""),
                true,
                Some("said \"no\""),
            ),
            (format!("pdq:{HASH},a:b"), true, Some("a:b")),
            (format!("SHA256: {HASH}"), false, None),
        ] {
            let read = read(&line).unwrap().unwrap();
            assert_eq!(read.hashes.pdq().is_some(), is_pdq, "{line}");
            assert_eq!(read.hashes.sha256().is_some(), !is_pdq, "{line}");
            assert_eq!(read.note.as_ref().map(Reason::as_str), note, "{line}");
        }
        let bare = parse_line(HASH.as_bytes(), HashAlgorithm::Sha256);
        let sha256 = bare.unwrap().unwrap().hashes.sha256();
        assert_eq!(sha256, Some(HASH.parse().unwrap()));
    }

    #[test]
    fn lines_that_say_nothing_are_passed_over() {
        for line in ["", "  \r", "# from the exchange", "\u{feff}"] {
            assert_eq!(read(line), Ok(None), "{line:?}");
        }
    }

    #[test]
    fn a_line_without_a_hash_is_refused() {
        let long = format!("{HASH},{}", "x".repeat(MAX_LINE_BYTES));
        let wordy = format!("{HASH},{}", "x".repeat(1_001));
        for (line, fault) in [
            ("hash,note", LineFault::NoHash),
            (&HASH[1..], LineFault::NoHash),
            (",note", LineFault::NoHash),
            ("d41d8cd98f00b204e9800998ecf8427e", LineFault::NoHash),
            (
                "md5:d41d8cd98f00b204e9800998ecf8427e",
                LineFault::UnknownKind,
            ),
            (&wordy, LineFault::Note),
            (&format!("{HASH},a\0"), LineFault::Note),
            (&long, LineFault::TooLong),
        ] {
            assert_eq!(read(line), Err(fault), "{line}");
        }
        let bytes = [HASH.as_bytes(), b",\xff"].concat();
        let read = parse_line(&bytes, HashAlgorithm::Pdq);
        assert_eq!(read, Err(LineFault::NotUnicode));
    }
}
