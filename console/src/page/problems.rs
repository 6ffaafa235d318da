//! What is wrong with a form, shown at its fields.

use std::fmt::Display;

use management::{Conflict, FieldProblem, Refused};
use poem::http::StatusCode;

use super::error::PageError;

/// What is wrong with a form that was sent.
#[derive(Default)]
pub(crate) struct Problems {
    fields: Vec<FieldProblem>,
    whole: Vec<String>,
    /// The status of the page that shows them.
    status: StatusCode,
}

impl Problems {
    /// Takes a refusal that the person can mend in the form. `Err`: it is another one.
    pub(crate) fn of(refused: Refused) -> Result<Self, PageError> {
        match refused {
            Refused::Fields(fields) => Ok(Self::of_fields(fields.problems)),
            Refused::Conflict(Conflict::NameTaken, text) => Ok(Self::field("name", text)),
            refused @ (Refused::Invalid(_)
            | Refused::Conflict(..)
            | Refused::TooManyPings { .. }
            | Refused::TooManyDownloads { .. }
            | Refused::Overloaded) => Ok(Self {
                whole: vec![refused.to_string()],
                ..Self::of_fields(Vec::new())
            }),
            other => Err(other.into()),
        }
    }

    fn of_fields(fields: Vec<FieldProblem>) -> Self {
        Self {
            fields,
            whole: Vec::new(),
            status: StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    /// One mistake, as [`Problems::add`] adds it.
    pub(crate) fn field(field: &str, message: impl Into<String>) -> Self {
        let mut problems = Self::default();
        problems.add(field, message);
        problems
    }

    /// Somebody else has changed what the form was made for.
    pub(crate) fn conflict(text: impl Into<String>) -> Self {
        Self {
            fields: Vec::new(),
            whole: vec![text.into()],
            status: StatusCode::CONFLICT,
        }
    }

    /// The same problems on a page with this status.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The status of the page that shows them: success, if nothing is wrong.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Whether nothing is wrong.
    pub(crate) fn are_none(&self) -> bool {
        self.fields.is_empty() && self.whole.is_empty()
    }

    /// Adds a mistake. The message is a sentence, or continues one that begins with the field's name: `must be ...`.
    pub(crate) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.status = StatusCode::UNPROCESSABLE_ENTITY;
        self.fields.push(FieldProblem {
            field: field.to_owned(),
            message: message.into(),
            position: None,
        });
    }

    /// The value, or a mistake at its field.
    pub(crate) fn kept<T, E: Display>(&mut self, field: &str, parsed: Result<T, E>) -> Option<T> {
        let kept = parsed.map_err(|wrong| self.add(field, wrong.to_string()));
        kept.ok()
    }

    /// The value if nothing is wrong.
    pub(crate) fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.are_none() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// The refusal of a use case that would say the same.
    pub(crate) fn into_refused(self) -> Refused {
        Refused::fields(self.fields)
    }

    /// What is wrong with a field, or with what is in it.
    pub(crate) fn at(&self, field: &str) -> Option<String> {
        let fields = self.fields.iter();
        let texts: Vec<String> = fields
            .filter(|problem| is_in(&problem.field, field))
            .map(|problem| sentence(&problem.message))
            .collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    /// What is not shown at one of these fields.
    pub(crate) fn besides(&self, shown: &[&str]) -> Vec<String> {
        let fields = self.fields.iter();
        let rest = fields
            .filter(|problem| !shown.iter().any(|field| is_in(&problem.field, field)))
            .map(|problem| format!("`{}` {}.", problem.field, problem.message));
        self.whole.iter().cloned().chain(rest).collect()
    }
}

/// `must be shorter` as a sentence.
fn sentence(message: &str) -> String {
    let mut rest = message.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    let end = if message.ends_with('.') { "" } else { "." };
    first.chain(rest.by_ref()).chain(end.chars()).collect()
}

/// Whether `path` is the field or a part of its value, such as `rules[2].pattern` of `rules`.
fn is_in(path: &str, field: &str) -> bool {
    path.strip_prefix(field)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_shown_at_its_field_or_above_the_form() {
        let mut problems = Problems::default();
        problems.add("rules[2].pattern", "must be shorter");
        problems.add("name", "is empty");
        assert_eq!(problems.at("rules").as_deref(), Some("Must be shorter."));
        assert_eq!(problems.at("rule"), None);
        assert_eq!(problems.besides(&["rules", "nam"]), ["`name` is empty."]);
    }
}
