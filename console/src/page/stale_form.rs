//! What a person saw in a form. Somebody else may have changed it before the form is sent.

use chrono::Utc;
use management::{Changer, Outdated};
use poem::http::StatusCode;
use sha2::{Digest as _, Sha256};

use super::{PageRequest, Problems};
use crate::time;

/// The hidden field.
const FIELD: &str = "seen";

/// Hexadecimal digits that are sent. They need not withstand anybody: who changes settings may change them anyway.
const DIGITS: usize = 16;

/// A digest of the values that a form shows.
pub(crate) fn digest<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for value in values {
        hash.update((value.len() as u64).to_be_bytes());
        hash.update(value);
    }
    let mut digits = hex::encode(hash.finalize());
    digits.truncate(DIGITS);
    digits
}

/// Whether the form was sent by somebody who had seen these values.
pub(crate) fn is_seen(request: &PageRequest, present: &str) -> bool {
    !request.form.has(FIELD) || request.form.get(FIELD) == present
}

/// What the form sends the next time: what was seen first, unless the person has just been told of a change.
pub(crate) fn next(request: &PageRequest, problems: &Problems, present: String) -> String {
    if request.form.has(FIELD) && problems.status() != StatusCode::CONFLICT {
        request.form.get(FIELD).to_owned()
    } else {
        present
    }
}

/// What the person is told.
pub(crate) fn problems(outdated: &Outdated) -> Problems {
    let by = match &outdated.by {
        Changer::Caller => "You have changed this in another window",
        Changer::Named(name) => &format!("{name} has changed this"),
        Changer::Unnamed => "Somebody has changed this",
    };
    let at = outdated.at.map(|at| time::told(at, Utc::now()));
    let at = at.map_or_else(String::new, |at| format!(" ({at})"));
    Problems::conflict(format!(
        "{by} since you opened this page{at}. Nothing was saved. What you typed is still here. To see the new values, open this \
         page again. To replace them, save once more."
    ))
}
