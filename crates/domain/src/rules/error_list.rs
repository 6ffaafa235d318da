//! Collects what is wrong with the rules of a group, up to the number of mistakes that are listed.

use super::error::{RuleError, RuleErrors};

/// Collects errors while a group is compiled.
#[derive(Default)]
pub(super) struct ErrorList(Vec<RuleError>);

impl ErrorList {
    /// Collects the errors of one rule.
    pub(super) fn of<'a>(&'a mut self, index: usize, name: &'a str) -> RuleErrorList<'a> {
        RuleErrorList {
            errors: self,
            index,
            name,
        }
    }

    /// An error of the group as a whole.
    pub(super) fn group(&mut self, field: &str, message: String) {
        self.push(RuleError::of_group(field, message));
    }

    fn push(&mut self, error: RuleError) {
        // One more than are listed, to show that there are more.
        if self.0.len() <= RuleErrors::MOST {
            self.0.push(error);
        }
    }

    /// Sorts the errors by rule. Those of the group as a whole come last.
    pub(super) fn sort(&mut self) {
        self.0.sort_by_key(|error| error.rule.unwrap_or(usize::MAX));
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_errors(self) -> RuleErrors {
        RuleErrors::of(self.0, false)
    }
}

/// The errors of one rule.
pub(super) struct RuleErrorList<'a> {
    errors: &'a mut ErrorList,
    index: usize,
    name: &'a str,
}

impl RuleErrorList<'_> {
    /// An error in a member.
    pub(super) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.push(field.into(), message.into(), None);
    }

    /// An error at a place in a member, in characters from 0.
    pub(super) fn add_at(&mut self, field: &str, message: impl Into<String>, position: usize) {
        self.push(field.to_owned(), message.into(), Some(position));
    }

    fn push(&mut self, field: String, message: String, position: Option<usize>) {
        self.errors.push(RuleError {
            rule: Some(self.index),
            name: self.name.to_owned(),
            field,
            message,
            position,
            place: None,
        });
    }
}
