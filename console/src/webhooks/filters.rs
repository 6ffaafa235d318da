//! What a list of deliveries or events is limited to. It is in the address, so it can be kept.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::time_input;
use crate::page::{PageRequest, Problems};

/// An id that was chosen or typed.
pub(super) fn id<T: From<Uuid>>(text: &str) -> Option<T> {
    text.trim().parse::<Uuid>().ok().map(T::from)
}

/// Whether the list is limited to something.
pub(super) fn any(request: &PageRequest) -> bool {
    let fields = [
        "site", "endpoint", "state", "event", "item", "since", "until",
    ];
    fields.iter().any(|field| request.query.has(field))
}

/// Reads the fields of a filter, and notes what is wrong with them.
pub(super) struct Filters<'a> {
    request: &'a PageRequest,
    pub(super) problems: Problems,
}

impl<'a> Filters<'a> {
    pub(super) fn of(request: &'a PageRequest) -> Self {
        Self {
            request,
            problems: Problems::default(),
        }
    }

    pub(super) fn id<T: From<Uuid>>(&mut self, field: &str) -> Option<T> {
        self.read(field, "must be an id", |text| id(text))
    }

    pub(super) fn one_of<T: FromStr>(&mut self, field: &str) -> Option<T> {
        self.read(field, "must be one of the list", |text| text.parse().ok())
    }

    pub(super) fn time(&mut self, field: &str) -> Option<DateTime<Utc>> {
        self.read(field, time_input::EXPECTED, time_input::read)
    }

    fn read<T>(
        &mut self,
        field: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.request.query.get(field).trim();
        if text.is_empty() {
            return None;
        }
        let read = parse(text);
        if read.is_none() {
            self.problems.add(field, expected);
        }
        read
    }
}
