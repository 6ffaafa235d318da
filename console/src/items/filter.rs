//! The filters of the list of items. A call in [`read`] parses a parameter of the address and adds its field to the form.

use std::{fmt::Display, str::FromStr};

use chrono::{DateTime, Utc};
use domain::{media::Status, score::Category, submission::MAX_APP_MEDIA_ID};
use management::{media::Filter, sites::ManagedSite};

use crate::{
    page::{PageRequest, Problems},
    time,
};

/// What the address asks for, and the form that shows it.
pub(super) struct Asked {
    pub(super) filter: Filter,
    pub(super) fields: Vec<Field>,
    pub(super) problems: Problems,
}

impl Asked {
    pub(super) fn problem(&self, field: &Field) -> Option<String> {
        self.problems.at(field.name)
    }

    /// Whether anything is filtered.
    pub(super) fn is_any(&self) -> bool {
        self.fields.iter().any(|field| !field.value.is_empty())
    }
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) input: Input,
}

/// How its value is given.
pub(super) enum Input {
    /// One of these values, with what people read.
    Choice(Vec<(String, String)>),
    /// A time in UTC.
    Time,
    Text,
}

pub(super) fn read(request: &PageRequest, sites: &[ManagedSite]) -> Asked {
    let mut form = Reader {
        request,
        fields: Vec::new(),
        problems: Problems::default(),
    };
    let statuses = Status::ALL.iter().map(|status| (*status, worded(*status)));
    let categories = Category::ALL.iter().map(|one| (*one, one.as_str()));
    let sites = sites
        .iter()
        .map(|site| (site.id, site.settings.name.as_str()));
    let filter = Filter {
        status: form.choice("status", "Status", statuses),
        site: form.choice("site", "Site", sites),
        since: form.time("since", "From (UTC)"),
        until: form.time("until", "Before (UTC)"),
        app_media_id: form.text("app_media_id", "The application's ID", MAX_APP_MEDIA_ID),
        author: form.value("author", "Author"),
        rule: form.value("rule_id", "Rule ID"),
        category: form.choice("category", "Category", categories),
    };
    Asked {
        filter,
        fields: form.fields,
        problems: form.problems,
    }
}

const fn worded(status: Status) -> &'static str {
    match status {
        Status::Pending => "Not judged yet",
        Status::Approved => "Approved",
        Status::Rejected => "Rejected",
        Status::PendingReview => "Waits for review",
    }
}

struct Reader<'a> {
    request: &'a PageRequest,
    fields: Vec<Field>,
    problems: Problems,
}

impl Reader<'_> {
    fn choice<'n, T: Display + FromStr>(
        &mut self,
        name: &'static str,
        label: &'static str,
        choices: impl Iterator<Item = (T, &'n str)>,
    ) -> Option<T> {
        let choices = choices.map(|(value, text)| (value.to_string(), text.to_owned()));
        let mut choices: Vec<_> = choices.collect();
        let given = self.request.query.get(name);
        let value: Option<T> = given.parse().ok();
        if value.is_some() && !choices.iter().any(|(known, _)| known == given) {
            choices.push((given.to_owned(), given.to_owned()));
        }
        let wrong = || "must be one of the list".to_owned();
        self.read(name, label, Input::Choice(choices), |_| {
            value.ok_or_else(wrong)
        })
    }

    fn time(&mut self, name: &'static str, label: &'static str) -> Option<DateTime<Utc>> {
        self.read(name, label, Input::Time, time)
    }

    fn text(&mut self, name: &'static str, label: &'static str, longest: usize) -> Option<String> {
        self.read(name, label, Input::Text, |text| {
            if text.contains('\0') || text.chars().count() > longest {
                return Err(format!("must have at most {longest} characters"));
            }
            Ok(text.to_owned())
        })
    }

    fn value<T: FromStr<Err: Display>>(
        &mut self,
        name: &'static str,
        label: &'static str,
    ) -> Option<T> {
        self.read(name, label, Input::Text, |text| {
            text.parse().map_err(|wrong: T::Err| wrong.to_string())
        })
    }

    /// Adds a field. Nothing was asked for if it is empty.
    fn read<T>(
        &mut self,
        name: &'static str,
        label: &'static str,
        input: Input,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let value = self.request.query.get(name).to_owned();
        let parsed = (!value.is_empty()).then(|| parse(&value)).transpose();
        self.fields.push(Field {
            name,
            label,
            value,
            input,
        });
        self.problems.kept(name, parsed).flatten()
    }
}

fn time(text: &str) -> Result<DateTime<Utc>, String> {
    time::recent(text).ok_or_else(|| "must be a time such as 2026-01-31T12:00".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_browsers_send_it() {
        for text in ["2026-01-31T12:00", "2026-01-31T12:00:59"] {
            assert!(time(text).is_ok(), "{text}");
        }
        for text in [
            "2026-01-31",
            "2026-02-30T12:00",
            "+99999-01-01T00:00",
            "0001-01-01T00:00",
            "now",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
