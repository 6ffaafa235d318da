//! What is wrong with the rules of a group, reported so that the author can find the place.

use std::fmt;

/// The message for U+0000, which Postgres does not store.
pub(super) const NUL: &str = "must not contain U+0000";

/// A place in a file. Both numbers count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The character in the line.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// One error in one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The place of the rule in the group, from 0. `None` if the group as a whole is wrong.
    pub rule: Option<usize>,
    /// The name of the rule, empty for the group as a whole.
    pub name: String,
    /// The wrong member, such as `keywords[3]` or `pattern`; empty if the rule as a whole is
    /// wrong.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
    /// The place of the error in the member, in characters from 0, if it is known.
    pub position: Option<usize>,
    /// The place of the member in its file, if people write the file.
    pub place: Option<Place>,
}

impl RuleError {
    /// An error of the group as a whole.
    pub(super) fn of_group(field: &str, message: String) -> Self {
        Self {
            rule: None,
            name: String::new(),
            field: field.to_owned(),
            message,
            position: None,
            place: None,
        }
    }

    /// The path of the member at fault in the document of a group, such as `rules[3].pattern`.
    pub fn path(&self) -> String {
        match self.rule {
            Some(at) if self.field.is_empty() => format!("rules[{at}]"),
            Some(at) => format!("rules[{at}].{}", self.field),
            None => self.field.clone(),
        }
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())?;
        if !self.name.is_empty() {
            write!(f, " (`{}`)", self.name)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(position) = self.position {
            write!(f, " (at character {position})")?;
        }
        match self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with the rules of a group; never empty. At most [`RuleErrors::MOST`]
/// errors are listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RuleErrors {
    errors: Vec<RuleError>,
    is_too_heavy: bool,
    has_more: bool,
}

impl RuleErrors {
    /// The most errors that are listed, so that a wrong import of thousands of rules gives a
    /// readable answer.
    pub const MOST: usize = 100;

    /// The group costs more memory or time than it may.
    pub(super) fn too_heavy(message: String) -> Self {
        let of_group = RuleError::of_group("rules", message);
        Self {
            is_too_heavy: true,
            ..Self::of(vec![of_group], false)
        }
    }

    /// These errors, or the first of them if they are too many.
    pub(super) fn of(mut errors: Vec<RuleError>, has_more: bool) -> Self {
        let has_more = has_more || errors.len() > Self::MOST;
        errors.truncate(Self::MOST);
        Self {
            errors,
            is_too_heavy: false,
            has_more,
        }
    }

    /// Whether there are more errors than are listed.
    pub const fn has_more(&self) -> bool {
        self.has_more
    }

    /// Whether the only error of the rules is their cost.
    pub const fn is_too_heavy(&self) -> bool {
        self.is_too_heavy
    }

    /// The errors, in the order of the rules.
    pub fn iter(&self) -> std::slice::Iter<'_, RuleError> {
        self.errors.iter()
    }
}

impl<'a> IntoIterator for &'a RuleErrors {
    type Item = &'a RuleError;
    type IntoIter = std::slice::Iter<'a, RuleError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for RuleErrors {
    type Item = RuleError;
    type IntoIter = std::vec::IntoIter<RuleError>;

    fn into_iter(self) -> Self::IntoIter {
        self.errors.into_iter()
    }
}

impl fmt::Display for RuleErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        if self.has_more {
            write!(f, "; only the first {} mistakes are listed", Self::MOST)?;
        }
        Ok(())
    }
}

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
