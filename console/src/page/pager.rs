//! Lists, a page at a time. The address of the next page names the last row of this one.

use std::fmt::Display;

use management::sites::Page;
use url::form_urlencoded::Serializer;

use super::PageRequest;

/// Rows of a page.
const ROWS: i64 = 50;

/// The page that the address asks for.
pub(crate) fn asked(request: &PageRequest) -> Page {
    Page {
        after: request.query.get("after").parse().ok(),
        limit: ROWS,
    }
}

/// The first rows of a list that a page names or offers.
pub(crate) const fn first(limit: i64) -> Page {
    Page { after: None, limit }
}

/// The address of the next page, with the same filters. There is none after a page that is not full.
pub(crate) fn next<T, I: Display>(
    request: &PageRequest,
    rows: &[T],
    id: impl Fn(&T) -> I,
) -> Option<String> {
    let is_full = i64::try_from(rows.len()) == Ok(ROWS);
    let last = rows.last().filter(|_| is_full)?;
    Some(after(request, id(last)))
}

/// The address of the page that begins after this row, with the same filters.
pub(crate) fn after(request: &PageRequest, last: impl Display) -> String {
    let mut query = Serializer::for_suffix("?".to_owned(), 1);
    query.extend_pairs(
        request
            .query
            .without("after")
            .filter(|(name, _)| name != "done"),
    );
    query.append_pair("after", &last.to_string());
    query.finish()
}
