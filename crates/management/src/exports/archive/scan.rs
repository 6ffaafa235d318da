//! Following an archive while its bytes arrive, to know where its last whole member ends.

use tar::{EntryType, Header};

use super::{BLOCK, Cursor};

/// The largest pax header that is read: the ones of archives have a few hundred bytes.
const LONGEST_PAX: u64 = 64 << 10;

/// These bytes are no archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no archive of Gatehouse, or it is damaged")]
pub struct Damaged;

/// A whole member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// Where the archive goes on after it.
    pub after: Cursor,
    /// Where it ends in the file.
    pub end: u64,
}

/// Follows the bytes of an archive from its beginning, or from the end of a member. It holds one block, or one pax header, at
/// most.
#[derive(Debug, Default)]
pub struct Scan {
    /// The bytes so far.
    position: u64,
    state: State,
    /// What the pax header before the present member says.
    comment: Option<Cursor>,
}

#[derive(Debug)]
enum State {
    /// The bytes of a header so far.
    Header(Vec<u8>),
    /// So many bytes are left of a pax header, its last block included.
    Pax { left: u64, content: Vec<u8> },
    /// So many bytes are left of a member, its last block included.
    Content { left: u64, name: String },
    /// Zeros.
    End,
}

impl Default for State {
    fn default() -> Self {
        Self::Header(Vec::new())
    }
}

impl Scan {
    /// Follows from a member's end on.
    pub fn at(position: u64) -> Self {
        Self {
            position,
            ..Self::default()
        }
    }

    /// Takes the next bytes. Returns the members that are whole by now.
    ///
    /// # Errors
    /// It is no archive.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Seen>, Damaged> {
        let mut seen = Vec::new();
        while !bytes.is_empty() {
            let wanted = match &self.state {
                State::Header(block) => BLOCK - block.len(),
                State::Pax { left, .. } | State::Content { left, .. } => {
                    usize::try_from(*left).unwrap_or(usize::MAX)
                }
                State::End => bytes.len(),
            };
            let (taken, rest) = bytes.split_at(wanted.min(bytes.len()));
            bytes = rest;
            self.position += taken.len() as u64;
            seen.extend(self.take(taken)?);
        }
        Ok(seen)
    }

    /// Takes bytes of what the state is about, and no more than are left of it.
    fn take(&mut self, taken: &[u8]) -> Result<Option<Seen>, Damaged> {
        match &mut self.state {
            State::End => {}
            State::Header(block) => {
                block.extend_from_slice(taken);
                if block.len() == BLOCK {
                    self.state = begun(block)?;
                }
            }
            State::Pax { left, content } => {
                content.extend_from_slice(taken);
                *left -= taken.len() as u64;
                if *left == 0 {
                    self.comment = Some(comment_of(content).ok_or(Damaged)?);
                    self.state = State::default();
                }
            }
            State::Content { left, .. } => *left -= taken.len() as u64,
        }
        let State::Content { left: 0, name } = &mut self.state else {
            return Ok(None);
        };
        let seen = Seen {
            name: std::mem::take(name),
            after: self.comment.take().ok_or(Damaged)?,
            end: self.position,
        };
        self.state = State::default();
        Ok(Some(seen))
    }
}

/// What begins with a header.
fn begun(block: &[u8]) -> Result<State, Damaged> {
    if block.iter().all(|byte| *byte == 0) {
        return Ok(State::End);
    }
    let header = Header::from_byte_slice(block);
    let told = header.cksum().map_err(|_| Damaged)?;
    let mut summed = header.clone();
    summed.set_cksum();
    if summed.cksum().ok() != Some(told) {
        return Err(Damaged);
    }
    let size = header.entry_size().map_err(|_| Damaged)?;
    let left = size.checked_next_multiple_of(BLOCK as u64).ok_or(Damaged)?;
    match header.entry_type() {
        EntryType::XHeader if (1..=LONGEST_PAX).contains(&size) => Ok(State::Pax {
            left,
            content: Vec::new(),
        }),
        EntryType::Regular => {
            let name = header.path().map_err(|_| Damaged)?;
            Ok(State::Content {
                left,
                name: name.to_str().ok_or(Damaged)?.to_owned(),
            })
        }
        _ => Err(Damaged),
    }
}

/// The cursor in a pax header's content, zeros behind it included.
fn comment_of(content: &[u8]) -> Option<Cursor> {
    let mut records = tar::PaxExtensions::new(content);
    let comment = records.find_map(|record| {
        let record = record.ok()?;
        (record.key() == Ok("comment")).then(|| record.value().map(str::to_owned))
    })?;
    comment.ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports::archive::{END, Part, member};

    fn file() -> (Vec<u8>, Vec<usize>) {
        let mut file = Vec::new();
        let mut ends = Vec::new();
        for (number, size) in (1..).zip([0_usize, 1, 511, 512, 5_000]) {
            let after = Cursor {
                number,
                part: Part::Items,
                ..Cursor::default()
            };
            let name = format!("items/{number:06}.ndjson");
            file.extend(member(&name, &vec![b'x'; size], &after));
            ends.push(file.len());
        }
        file.resize(file.len() + END, 0);
        (file, ends)
    }

    #[test]
    fn a_cut_file_ends_after_its_last_whole_member() {
        let (file, ends) = file();
        for cut in 0..=file.len() {
            let seen = Scan::default().feed(&file[..cut]).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(seen.len(), whole, "{cut}");
            let expected = ends[..whole].last().map(|end| *end as u64);
            assert_eq!(seen.last().map(|seen| seen.end), expected, "{cut}");
            let number = seen.last().map_or(0, |seen| seen.after.number);
            assert_eq!(number as usize, whole, "{cut}");
        }
    }

    #[test]
    fn bytes_can_arrive_in_pieces_of_any_size_and_from_any_member_on() {
        let (file, ends) = file();
        let whole = Scan::default().feed(&file).unwrap();
        for size in [1, 7, 512, 700] {
            let mut scan = Scan::at(ends[1] as u64);
            let pieces = file[ends[1]..].chunks(size);
            let seen: Vec<_> = pieces.flat_map(|piece| scan.feed(piece).unwrap()).collect();
            assert_eq!(seen, whole[2..], "{size}");
        }
    }

    #[test]
    fn something_else_is_no_archive() {
        assert_eq!(Scan::default().feed(&[b'{'; 600]), Err(Damaged));
        let (mut file, _) = file();
        file[3] ^= 1;
        assert_eq!(Scan::default().feed(&file), Err(Damaged));
    }
}
