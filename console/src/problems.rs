//! What is wrong with a form, shown at its fields.

use management::{Conflict, FieldProblem, Refused};

use crate::error_page::PageError;

/// What is wrong with a form that was sent.
#[derive(Default)]
pub(crate) struct Problems {
    fields: Vec<FieldProblem>,
    /// What is wrong with the form as a whole.
    whole: Vec<String>,
}

impl Problems {
    /// Takes a refusal that the person can mend in the form.
    ///
    /// # Errors
    /// It is another one.
    pub(crate) fn of(refused: Refused) -> Result<Self, PageError> {
        match refused {
            Refused::Fields(fields) => Ok(Self {
                fields: fields.problems,
                whole: Vec::new(),
            }),
            Refused::Conflict(Conflict::NameTaken, text) => {
                let mut problems = Self::default();
                problems.add("name", text);
                Ok(problems)
            }
            refused @ (Refused::Invalid(_)
            | Refused::Conflict(..)
            | Refused::TooManyPings { .. }
            | Refused::TooManyDownloads { .. }
            | Refused::Overloaded) => Ok(Self {
                fields: Vec::new(),
                whole: vec![refused.to_string()],
            }),
            other => Err(other.into()),
        }
    }

    /// What is wrong with the form as a whole.
    pub(crate) fn whole(text: String) -> Self {
        Self {
            fields: Vec::new(),
            whole: vec![text],
        }
    }

    /// Whether nothing is wrong.
    pub(crate) fn are_none(&self) -> bool {
        self.fields.is_empty() && self.whole.is_empty()
    }

    /// Adds a mistake. The message is a sentence, or continues one that begins with the field's name: `must be ...`.
    pub(crate) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.fields.push(FieldProblem {
            field: field.to_owned(),
            message: message.into(),
            position: None,
        });
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
