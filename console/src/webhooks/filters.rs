//! What lists of deliveries and events are limited to, and what fields offer to choose from. Filters are in the address, so they
//! can be kept.

use std::{fmt::Display, str::FromStr};

use chrono::{DateTime, NaiveDateTime, Utc};
use domain::id::SiteId;
use management::sites;
use uuid::Uuid;

use crate::page::{Choice, PageError, PageRequest, Problems, pager};

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
        self.read(field, TIME_EXPECTED, time)
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

/// Sites that are offered.
const SITES: i64 = 200;

/// The values of a closed set under their own names.
pub(super) fn all<T: Copy + Display>(values: &[T], chosen: &str) -> Vec<Choice> {
    let values = values.iter();
    values
        .map(|value| Choice::new(value, value.to_string(), chosen))
        .collect()
}

/// The sites of a team. If there are more than are offered, the one that was chosen is still there.
pub(super) async fn sites(
    request: &PageRequest,
    chosen: Option<SiteId>,
) -> Result<Vec<Choice>, PageError> {
    let caller = request.caller()?;
    let sites = sites::list(&caller, pager::first(SITES)).await?;
    let text = chosen.map_or_else(String::new, |site| site.to_string());
    let offered = sites.into_iter();
    let mut offered: Vec<Choice> = offered
        .map(|site| Choice::new(site.id, site.settings.name, &text))
        .collect();
    if chosen.is_some() && !offered.iter().any(|choice| choice.is_chosen) {
        offered.push(Choice::new(&text, &text, &text));
    }
    Ok(offered)
}

/// What browsers send of a field for a time, with and without seconds.
const FORMATS: [&str; 3] = [
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
];

/// Why a time was not read.
pub(super) const TIME_EXPECTED: &str = "must be a time such as 2026-02-03T16:05";

pub(super) fn time(text: &str) -> Option<DateTime<Utc>> {
    let mut formats = FORMATS.into_iter();
    formats
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .map(|time| time.and_utc())
        .or_else(|| text.parse().ok())
}

/// A time for a field, to the minute.
pub(super) fn time_field(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%dT%H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_browsers_send_it() {
        let read = time("2026-02-03T16:05").unwrap();
        assert_eq!(time_field(read), "2026-02-03T16:05");
        assert_eq!(time("2026-02-03T16:05:00"), Some(read));
        assert_eq!(time("2026-02-03T17:05:00+01:00"), Some(read));
        for wrong in ["", "yesterday", "2026-02-30T00:00", "2026-02-03"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
