//! Where an archive goes on.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

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
    /// See [`super::chain`].
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
    use super::*;

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
