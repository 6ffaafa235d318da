//! The form of an archive: a tar file whose members can be read one after the other.
//!
//! Before each member is a header of the standard kind (pax) with a comment. The comment says where the archive goes on after
//! that member: a [`Cursor`]. So the server keeps nothing about a download, and a client needs nothing but the file itself.

mod cursor;
mod scan;

use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

pub use self::{
    cursor::{Counts, Cursor, NoCursor, Part},
    scan::{Damaged, Scan, Seen},
};

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
}
