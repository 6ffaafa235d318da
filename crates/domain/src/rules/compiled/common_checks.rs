//! What must hold for rules of every kind.

use crate::rules::MAX_NAME_CHARS;
use crate::rules::content_rule::MAX_EXCEPTIONS;
use crate::rules::error::NUL;
use crate::rules::error_list::RuleErrorList;
use crate::rules::keyword::check_term;

/// Checks the members that every kind of rule has.
pub(crate) fn check_common(name: &str, exceptions: &[String], errors: &mut RuleErrorList<'_>) {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARS {
        errors.add(
            "name",
            format!("must have 1 to {MAX_NAME_CHARS} characters"),
        );
    } else if name.contains('\0') {
        errors.add("name", NUL);
    }
    if exceptions.len() > MAX_EXCEPTIONS {
        errors.add(
            "exceptions",
            format!("must contain at most {MAX_EXCEPTIONS} terms"),
        );
    } else {
        for (at, term) in exceptions.iter().enumerate() {
            check_term(term, || format!("exceptions[{at}]"), errors);
        }
    }
}
