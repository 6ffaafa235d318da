//! Lists, one page at a time. A cursor stays valid while things are added and removed, and works
//! only for its own list.

mod cursor;

use api_common::query_parameters::Query;
use domain::bounded_integer::BoundedInteger;
use poem_openapi::{
    Object,
    types::{ParseFromJSON, ToJSON},
};
use serde::Serialize;
use store::page::Page;
use uuid::Uuid;

use cursor::{Cursor, ListTag};

pub(super) use cursor::After;

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
    pub(super) fn list<Row, T: From<Row> + ParseFromJSON + ToJSON>(
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
    pub(super) fn list_to<Row, T: From<Row> + ParseFromJSON + ToJSON>(
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
#[derive(Serialize, Object)]
pub(super) struct List<T: ParseFromJSON + ToJSON> {
    /// The items of this page.
    data: Vec<T>,
    /// Send it as `cursor` to get the next page. `null` on the last page.
    #[oai(nullable)]
    next_cursor: Option<String>,
}

impl<T: ParseFromJSON + ToJSON> List<T> {
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
