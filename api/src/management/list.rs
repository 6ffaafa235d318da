//! Lists: a part at a time, by a cursor that stays true while things come and go.

use std::{fmt, str::FromStr};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use domain::whole::Whole;
use poem_openapi::{
    Object,
    registry::MetaSchema,
    types::{ParseFromJSON, ToJSON},
};
use serde::Serialize;
use store::page::Page;
use uuid::Uuid;

use crate::{member::Described, query::Query};

/// How many things a part may have.
pub(super) type Limit = Whole<1, 100>;

/// How many it has when nothing is said.
pub(super) const DEFAULT_LIMIT: i64 = 50;

/// A place in a list: after the thing with this id. Opaque to callers, so that lists may one day be in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor(Uuid);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

/// The text is no cursor of ours.
pub(super) struct InvalidCursor;

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text);
        let bytes: [u8; 16] = bytes
            .map_err(|_| InvalidCursor)?
            .try_into()
            .map_err(|_| InvalidCursor)?;
        Ok(Self(Uuid::from_bytes(bytes)))
    }
}

impl Described for Cursor {
    fn expected() -> String {
        "the next_cursor of an earlier answer".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new("string")
    }
}

/// The part of a list that a request asks for.
#[derive(Clone, Copy)]
pub(super) struct Part {
    after: Option<Cursor>,
    limit: i64,
}

impl Part {
    pub(super) fn new(limit: &Query<Limit>, cursor: &Query<Cursor>) -> Self {
        Self {
            after: cursor.0,
            limit: limit.0.map_or(DEFAULT_LIMIT, Limit::get),
        }
    }

    /// The rows to ask for: one more than wanted, which tells whether there are more.
    pub(super) fn page(self) -> Page {
        Page {
            after: self.after(),
            limit: self.limit + 1,
        }
    }

    /// Only what comes after the thing with this id is wanted.
    pub(super) fn after(self) -> Option<Uuid> {
        self.after.map(|Cursor(id)| id)
    }

    /// How many things are wanted.
    pub(super) fn limit(self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    /// The answer made of those rows.
    pub(super) fn list<Row, T: From<Row> + ParseFromJSON + ToJSON>(
        self,
        mut rows: Vec<Row>,
        id: impl Fn(&Row) -> Uuid,
    ) -> List<T> {
        let more = rows.len() > self.limit();
        rows.truncate(self.limit());
        let last = rows.last().filter(|_| more).map(id);
        List::new(rows, last)
    }
}

/// A part of a list.
#[derive(Serialize, Object)]
pub(super) struct List<T: ParseFromJSON + ToJSON> {
    /// The things.
    data: Vec<T>,
    /// Give it as `cursor` to get the next part; null at the end.
    #[oai(nullable)]
    next_cursor: Option<String>,
}

impl<T: ParseFromJSON + ToJSON> List<T> {
    /// These things; the next part begins after the thing with the id `last`, unless this is the end.
    pub(super) fn new<Row>(rows: Vec<Row>, last: Option<Uuid>) -> Self
    where
        T: From<Row>,
    {
        Self {
            data: rows.into_iter().map(T::from).collect(),
            next_cursor: last.map(|id| Cursor(id).to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let cursor = Cursor(Uuid::from_u128(u128::MAX - 7));
        assert!(
            cursor
                .to_string()
                .parse::<Cursor>()
                .is_ok_and(|read| read == cursor)
        );
        assert!(
            cursor
                .to_string()
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        );
        let id = cursor.0.to_string();
        for text in [
            "",
            "x",
            "AAAA",
            "AAAAAAAAAAAAAAAAAAAAAA==",
            "/+AAAAAAAAAAAAAAAAAAAA",
            &id,
        ] {
            assert!(text.parse::<Cursor>().is_err(), "{text:?}");
        }
    }
}
