//! The sentence that says why a person must look, or what was not checked.

use super::Unchecked;
use crate::rules::{RuleEffect, Violation};

/// Which rules requested a review, and what was not checked. `None` if a rule rejects or everything
/// is in order.
pub(super) fn reason(
    deciding: Option<RuleEffect>,
    violations: &[Violation],
    unchecked: &[Unchecked],
) -> Option<String> {
    if deciding == Some(RuleEffect::Reject) {
        return None;
    }
    let mut clauses = Vec::new();
    if deciding == Some(RuleEffect::Review) {
        let rules: Vec<_> = violations
            .iter()
            .map(|v| format!("`{}`", v.rule_name))
            .collect();
        clauses.push(format!("Review requested by {}", listed(&rules)));
    }
    if !unchecked.is_empty() {
        let parts: Vec<_> = unchecked.iter().map(ToString::to_string).collect();
        clauses.push(format!("Not checked: {}", parts.join("; ")));
    }
    (!clauses.is_empty()).then(|| clauses.join(". ") + ".")
}

/// "a, b and 3 more": keeps the reason to one readable line, however many rules match.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{} and {more} more", names[..SHOWN].join(", ")),
        Some(0) | None => names.join(", "),
    }
}
