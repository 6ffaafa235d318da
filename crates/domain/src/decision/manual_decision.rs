//! The details of a person's decision, together with what the machine had found before.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::reason::Reason;

/// What the machine found, read from the `moderation_details` of its verdict.
#[derive(Debug, Default, Deserialize)]
pub struct Found {
    rule_violations: Option<Box<RawValue>>,
    ai_analysis: Option<Box<RawValue>>,
}

/// The contract's `moderation_details` of a person's decision: the reason, and what the machine had
/// found before.
#[derive(Debug, Serialize)]
pub struct ManualDetails<'a> {
    rule_violations: Violations<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ai_analysis: Option<&'a RawValue>,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Violations<'a> {
    Found(&'a RawValue),
    None([(); 0]),
}

impl<'a> ManualDetails<'a> {
    /// The details of a person's decision.
    pub fn new(reason: &'a Reason, found: &'a Found) -> Self {
        Self {
            rule_violations: match &found.rule_violations {
                Some(violations) => Violations::Found(violations),
                None => Violations::None([]),
            },
            ai_analysis: found.ai_analysis.as_deref(),
            reason: reason.as_str(),
        }
    }
}
