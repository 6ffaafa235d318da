//! Lists, one page at a time. A cursor stays valid while things are added and removed, and works
//! only for its own list.

use std::{fmt, str::FromStr};

use api_common::{Query, Refusal, Schema, given_once};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use domain::bounded_integer::BoundedInteger;
use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef},
    types::Type,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use store::page::Page;
use uuid::Uuid;

/// How many items a page can have.
pub(super) type Limit = BoundedInteger<1, 100>;

/// How many items a page has by default.
pub(super) const DEFAULT_LIMIT: i64 = 50;

/// The page of a list that a request asks for.
#[derive(Clone, Copy)]
pub(super) struct Part {
    list: ListTag,
    after: Option<Uuid>,
    limit: i64,
}

impl Part {
    pub(super) fn new(limit: &Query<Limit>, cursor: &After) -> Self {
        Self {
            list: cursor.list,
            after: cursor.after,
            limit: limit.0.map_or(DEFAULT_LIMIT, Limit::get),
        }
    }

    /// The rows to read: one more than requested, to find out whether there are more.
    pub(super) fn page(self) -> Page {
        Page {
            after: self.after(),
            limit: self.limit + 1,
        }
    }

    /// The ID of the item after which the page begins.
    pub(super) fn after(self) -> Option<Uuid> {
        self.after
    }

    /// How many items are requested.
    pub(super) fn limit(self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    /// The answer with these rows.
    pub(super) fn list<Row, T: From<Row> + Type>(
        self,
        mut rows: Vec<Row>,
        id: impl Fn(&Row) -> Uuid,
    ) -> List<T> {
        let more = rows.len() > self.limit();
        rows.truncate(self.limit());
        let last = rows.last().filter(|_| more).map(id);
        self.list_to(rows, last)
    }

    /// The answer with these items. The next page begins after the item with the ID `last`. Without
    /// `last`, this is the end.
    pub(super) fn list_to<Row, T: From<Row> + Type>(
        self,
        rows: Vec<Row>,
        last: Option<Uuid>,
    ) -> List<T> {
        let cursor = last.map(|after| Cursor {
            list: self.list,
            after,
        });
        List {
            next_cursor: cursor.map(|cursor| cursor.to_string()),
            ..List::whole(rows)
        }
    }
}

/// One page of a list.
#[derive(Serialize, Schema)]
pub(super) struct List<T: Type> {
    /// The items of this page.
    data: Vec<T>,
    /// Send it as `cursor` to get the next page. `null` on the last page.
    #[schema(nullable)]
    next_cursor: Option<String>,
}

impl<T: Type> List<T> {
    /// A list that fits on one page.
    pub(super) fn whole<Row>(rows: Vec<Row>) -> Self
    where
        T: From<Row>,
    {
        Self {
            data: rows.into_iter().map(T::from).collect(),
            next_cursor: None,
        }
    }
}

/// Identifies a list by its path. A few bytes of the hash are enough: they find mistakes and
/// protect nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ListTag([u8; 4]);

impl ListTag {
    /// IDs in paths can be written in upper case, too.
    fn of(path: &str) -> Self {
        let hash = Sha256::digest(path.to_ascii_lowercase());
        Self([hash[0], hash[1], hash[2], hash[3]])
    }
}

/// A place in a list: after the item with this ID. It is opaque to callers, so that a list can get
/// another order later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cursor {
    list: ListTag,
    after: Uuid,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.list.0[..], self.after.as_bytes()].concat();
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }
}

/// The text is not a cursor that Gatehouse made.
struct InvalidCursor;

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text);
        let bytes = bytes.map_err(|_| InvalidCursor)?;
        let (list, after) = bytes.split_first_chunk().ok_or(InvalidCursor)?;
        Ok(Self {
            list: ListTag(*list),
            after: Uuid::from_slice(after).map_err(|_| InvalidCursor)?,
        })
    }
}

/// The parameter `cursor`: the item after which the page begins. Without it, the page begins at the
/// start of the list.
pub(crate) struct After {
    list: ListTag,
    after: Option<Uuid>,
}

impl<'a> ApiExtractor<'a> for After {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    type ParamType = ();
    type ParamRawType = ();

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let list = ListTag::of(request.original_uri().path());
        let wrong = |message: &str| Refusal::invalid_field(options.name, message);
        let Some(text) = given_once(request, options.name)? else {
            return Ok(Self { list, after: None });
        };
        let cursor: Cursor = text
            .parse()
            .map_err(|_| wrong("must be the next_cursor of an earlier answer"))?;
        if cursor.list != list {
            let message =
                "is the cursor of another list; take the next_cursor of an answer of this one";
            return Err(wrong(message).into());
        }
        Ok(Self {
            list,
            after: Some(cursor.after),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let cursor = Cursor {
            list: ListTag::of("/management/v1/teams"),
            after: Uuid::from_u128(u128::MAX - 7),
        };
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
        let id = cursor.after.to_string();
        for text in [
            "",
            "x",
            "AAAA",
            "AAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "/+AAAAAAAAAAAAAAAAAAAAAAAAA",
            &id,
        ] {
            assert!(text.parse::<Cursor>().is_err(), "{text:?}");
        }
    }
}
