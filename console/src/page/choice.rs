//! What a field offers to choose from.

use std::fmt::Display;

/// One of several values.
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) name: String,
    pub(crate) is_chosen: bool,
}

impl Choice {
    pub(crate) fn new(value: impl Display, name: impl Into<String>, chosen: &str) -> Self {
        let value = value.to_string();
        Self {
            is_chosen: value == chosen,
            value,
            name: name.into(),
        }
    }
}
