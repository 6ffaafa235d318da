//! A part of a long list of rules: which rows a page shows, and where it goes on.

use url::form_urlencoded::Serializer;

use crate::page::PageRequest;

/// Rows of a page.
const ROWS: usize = 100;

/// What a page shows of a list.
pub(super) struct Slice<T> {
    pub(super) rows: Vec<T>,
    pub(super) total: usize,
    /// The address of the page before this one.
    pub(super) before: Option<String>,
    /// The address of the page after this one.
    pub(super) after: Option<String>,
}

impl<T> Slice<T> {
    /// The rows that the address asks for by `from`, which counts from 0.
    pub(super) fn of(request: &PageRequest, all: impl Iterator<Item = T>) -> Self {
        let from: usize = request.query.get("from").parse().unwrap_or(0);
        let (mut rows, mut total) = (Vec::new(), 0);
        for (place, row) in all.enumerate() {
            total = place + 1;
            if place >= from && rows.len() < ROWS {
                rows.push(row);
            }
        }
        let end = from.saturating_add(rows.len());
        Self {
            before: (from > 0).then(|| address(request, from.min(total).saturating_sub(ROWS))),
            after: (end < total).then(|| address(request, end)),
            rows,
            total,
        }
    }

    /// The same part with other rows.
    pub(super) fn map<U>(self, row: impl FnMut(T) -> U) -> Slice<U> {
        Slice {
            rows: self.rows.into_iter().map(row).collect(),
            total: self.total,
            before: self.before,
            after: self.after,
        }
    }
}

fn address(request: &PageRequest, from: usize) -> String {
    let mut query = Serializer::new(String::new());
    let kept = request.query.without("from");
    query.extend_pairs(kept.filter(|(name, _)| name != "done"));
    query.append_pair("from", &from.to_string());
    format!("?{}", query.finish())
}
