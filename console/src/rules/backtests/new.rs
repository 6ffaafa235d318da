//! Starts the backtest that a form describes.

use chrono::{DateTime, NaiveDateTime, Utc};
use management::{
    Noun, Refused,
    rule_groups::backtests::{self, Backtest, NewBacktest},
};

use crate::page::PageRequest;

pub(super) async fn start(request: &PageRequest) -> Result<Backtest, Refused> {
    let caller = request.caller()?;
    let no_group = |_| Refused::NotFound(Noun::RuleGroup);
    let group = request.id("group").map_err(no_group)?;
    let new = NewBacktest {
        version: chosen(request, "version", "must be one of the versions")?,
        site: chosen(request, "site", "must be one of the sites")?,
        since: time(request, "since")?,
        until: time(request, "until")?,
        limit: match request.form.get("limit").trim() {
            "" => None,
            limit => {
                let limit = limit.parse();
                Some(
                    limit.map_err(|wrong: domain::bounded_integer::OutOfBounds| {
                        Refused::field("limit", wrong.to_string())
                    })?,
                )
            }
        },
    };
    backtests::create(&request.management, &caller, group, new)
        .await
        .map_err(as_in_the_form)
}

/// A choice. Empty: none.
fn chosen<T: std::str::FromStr>(
    request: &PageRequest,
    field: &str,
    message: &str,
) -> Result<Option<T>, Refused> {
    match request.form.get(field) {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|_| Refused::field(field, message)),
    }
}

/// A time in UTC, as browsers send it. Empty: none.
fn time(request: &PageRequest, field: &str) -> Result<Option<DateTime<Utc>>, Refused> {
    let text = request.form.get(field).trim();
    if text.is_empty() {
        return Ok(None);
    }
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let mut read = forms
        .iter()
        .filter_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let time = read.next().ok_or_else(|| {
        Refused::field(field, "must be a day and a time, such as 2026-03-01T09:30")
    })?;
    Ok(Some(time.and_utc()))
}

/// The form calls the version and the site by shorter names.
fn as_in_the_form(refused: Refused) -> Refused {
    let Refused::Fields(mut fields) = refused else {
        return refused;
    };
    for problem in &mut fields.problems {
        if let Some(name) = problem.field.strip_suffix("_id") {
            problem.field = name.to_owned();
        }
    }
    Refused::Fields(fields)
}
