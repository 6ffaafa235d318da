//! The form of an archive: a tar file whose members can be read one after the other.
//!
//! Before each member is a header of the standard kind (pax) with a comment. The comment says where the archive goes on after
//! that member: a [`Cursor`]. So the server keeps nothing about a download, and a client needs nothing but the file itself.

mod scan;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};
use uuid::Uuid;

pub use self::scan::{Damaged, Scan, Seen};

/// The version of the form. Readers refuse another one.
pub const FORMAT: u32 = 1;

/// The first member.
pub const EXPORT: &str = "export.json";

/// The last member.
pub const LAST: &str = "end.json";

/// The unit of tar files, in bytes.
const BLOCK: usize = 512;

/// Zeros at the end of a tar file, in bytes.
pub const END: usize = 2 * BLOCK;

/// The digest of an archive up to and with a member: SHA-256 of the digest before it (32 zeros before the first), the member's
/// name, a zero byte, and the member's content. Unlike a plain SHA-256, it can go on from its last value.
pub fn chain(before: &[u8; 32], name: &str, content: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(before)
        .chain_update(name)
        .chain_update([0])
        .chain_update(content)
        .finalize()
        .into()
}

/// A whole member: the header with the comment, the member's own header, its content, and zeros up to a whole block.
pub(super) fn member(name: &str, content: &[u8], after: &Cursor) -> Vec<u8> {
    let comment = pax_record("comment", &after.to_string());
    let mut bytes = Vec::with_capacity(4 * BLOCK + content.len());
    append(&mut bytes, EntryType::XHeader, "pax", comment.as_bytes());
    append(&mut bytes, EntryType::Regular, name, content);
    bytes
}

fn append(bytes: &mut Vec<u8>, kind: EntryType, name: &str, content: &[u8]) {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header
        .set_path(name)
        .expect("members have short names without special parts");
    header.set_mode(0o600);
    header.set_size(content.len() as u64);
    header.set_mtime(0);
    header.set_cksum();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
}

/// A record of a pax header: its own length in decimal digits, a space, a name, an equals sign, a value, a line end.
fn pax_record(name: &str, value: &str) -> String {
    let rest = format!(" {name}={value}\n");
    let mut length = rest.len();
    loop {
        let whole = length.to_string().len() + rest.len();
        if whole == length {
            return format!("{length}{rest}");
        }
        length = whole;
    }
}

/// What an archive contains up to a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Items.
    pub items: u64,
    /// Rows of the audit log.
    pub audit: u64,
}

/// The parts of an archive, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Nothing was written.
    #[default]
    Nothing,
    /// The last member is about the export.
    Export,
    /// About the site, or about a rule group or one of its versions.
    Rules,
    /// Items.
    Items,
    /// Rows of the audit log.
    Audit,
    /// The end.
    End,
}

const PARTS: [(Part, &str); 6] = [
    (Part::Nothing, "nothing"),
    (Part::Export, "export"),
    (Part::Rules, "rules"),
    (Part::Items, "items"),
    (Part::Audit, "audit"),
    (Part::End, "end"),
];

/// The state after a member: all that is needed to write the next one. A client gives it back, so it is never trusted: it is
/// only a place in a walk over one export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// How many members there are so far.
    pub number: u32,
    /// The part of the last member.
    pub part: Part,
    /// The last rule group, item or row of the audit log.
    pub id: Uuid,
    /// The number of the last version of the group; or how many lines of the item were written, if it has further ones.
    pub ordinal: i32,
    /// What was written.
    pub counts: Counts,
    /// See [`chain`].
    pub digest: [u8; 32],
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = PARTS.iter().find(|(part, _)| *part == self.part);
        write!(
            f,
            "{}.{}.{}.{}.{}.{}.{}",
            self.number,
            name.map_or("", |(_, name)| name),
            self.id,
            self.ordinal,
            self.counts.items,
            self.counts.audit,
            hex::encode(self.digest),
        )
    }
}

/// It is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCursor;

/// The largest numbers in a cursor: they are counted up, and one of them is multiplied by a page.
const LARGEST_ORDINAL: i32 = 10_000_000;
const LARGEST_COUNT: u64 = u64::MAX / 2;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let fields: Vec<&str> = text.split('.').collect();
        let [number, part, id, ordinal, items, audit, digest] = fields[..] else {
            return Err(NoCursor);
        };
        let (part, _) = PARTS
            .iter()
            .find(|(_, name)| *name == part)
            .ok_or(NoCursor)?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(digest, &mut bytes).map_err(|_| NoCursor)?;
        let cursor = Self {
            number: value(number)?,
            part: *part,
            id: value(id)?,
            ordinal: value(ordinal)?,
            counts: Counts {
                items: value(items)?,
                audit: value(audit)?,
            },
            digest: bytes,
        };
        let fits = (0..=LARGEST_ORDINAL).contains(&cursor.ordinal)
            && cursor.number <= u32::MAX / 2
            && cursor.counts.items <= LARGEST_COUNT
            && cursor.counts.audit <= LARGEST_COUNT;
        fits.then_some(cursor).ok_or(NoCursor)
    }
}

fn value<T: FromStr>(text: &str) -> Result<T, NoCursor> {
    text.parse().map_err(|_| NoCursor)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_record_begins_with_its_own_length() {
        assert_eq!(pax_record("comment", "x"), "13 comment=x\n");
        for length in 80..110 {
            let record = pax_record("comment", &"x".repeat(length));
            let (told, _) = record.split_once(' ').unwrap();
            assert_eq!(told.parse::<usize>().unwrap(), record.len());
        }
    }

    #[test]
    fn other_programs_read_the_members() {
        let after = Cursor {
            number: 7,
            ..Cursor::default()
        };
        let mut file = member("items/000007.ndjson", b"{}\n", &after);
        file.extend(member("end.json", &[b'x'; 512], &after));
        file.resize(file.len() + END, 0);
        let mut archive = tar::Archive::new(&file[..]);
        let mut names = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let comment = entry.pax_extensions().unwrap().unwrap().next().unwrap();
            let comment = comment.unwrap();
            assert_eq!(comment.key(), Ok("comment"));
            assert_eq!(comment.value(), Ok(after.to_string().as_str()));
            names.push(entry.path().unwrap().to_str().unwrap().to_owned());
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            assert_eq!(content.len() as u64, entry.size());
        }
        assert_eq!(names, ["items/000007.ndjson", "end.json"]);
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = Cursor {
            number: 12,
            part: Part::Items,
            id: Uuid::from_u128(7),
            ordinal: 3,
            counts: Counts {
                items: 5_500,
                audit: 1,
            },
            digest: [0xab; 32],
        };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        assert_eq!(Cursor::default().to_string().parse(), Ok(Cursor::default()));
    }

    #[test]
    fn nothing_else_is_a_cursor() {
        let cursor = Cursor::default().to_string();
        for text in [
            String::new(),
            cursor.replace("nothing", "x"),
            cursor[..cursor.len() - 1].to_owned(),
            format!("{cursor}.0"),
            cursor.replacen('0', "-1", 1),
            cursor.replacen("0.nothing", "4294967295.nothing", 1),
        ] {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text}");
        }
    }
}
