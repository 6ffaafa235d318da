//! What the author of rules should know, although they compile.

use management::rule_groups::Warning;
use poem_openapi::Object;
use serde::Serialize;
use serde_json::{Value, json};

/// Something that the author of rules should know, although the rules are accepted.
#[derive(Serialize, Object)]
pub(crate) struct RuleWarning {
    /// The field that the warning is about, such as `rules[3].category`.
    field: String,
    /// What you should know about it.
    message: String,
}

impl From<Warning> for RuleWarning {
    fn from(warning: Warning) -> Self {
        Self {
            field: warning.field,
            message: warning.message,
        }
    }
}

pub(super) fn example() -> Value {
    json!({
        "field": "rules[3].category",
        "message": "No configured provider can score `violence`, so the rule never matches.",
    })
}
