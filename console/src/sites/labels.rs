//! Settings of a site in words.

use domain::media::{CompatUnchecked, OnFailure, StatusVocabulary};

/// A choice, and what it means.
pub(crate) struct Choice {
    pub(crate) value: &'static str,
    pub(crate) name: &'static str,
    pub(crate) hint: &'static str,
}

impl Choice {
    const fn new(value: &'static str, (name, hint): (&'static str, &'static str)) -> Self {
        Self { value, name, hint }
    }
}

/// What happens to content that could not be checked.
pub(crate) const fn on_failure(choice: OnFailure) -> Choice {
    let said = match choice {
        OnFailure::Review => (
            "Wait for a person",
            "Nothing is published unchecked, and nothing is lost.",
        ),
        OnFailure::Reject => ("Reject", "Nothing is published unchecked."),
        OnFailure::Approve => (
            "Approve",
            "Everything is published while providers fail, unless a rule asks for a review.",
        ),
    };
    Choice::new(choice.as_str(), said)
}

/// How status queries spell the status.
pub(crate) const fn vocabulary(choice: StatusVocabulary) -> Choice {
    let said = match choice {
        StatusVocabulary::State => (
            "Four states",
            "pending, approved, rejected or pending_review.",
        ),
        StatusVocabulary::Completed => (
            "Pending or completed",
            "pending or completed, with the result in action.",
        ),
    };
    Choice::new(choice.as_str(), said)
}

/// What clients of OpenAI get for content of which something could not be checked.
pub(crate) const fn compat_unchecked(choice: CompatUnchecked) -> Choice {
    let said = match choice {
        CompatUnchecked::Flag => (
            "A flagged result",
            "Unless the site approves what cannot be checked, which is its setting above.",
        ),
        CompatUnchecked::Error => (
            "An error: 503 not_checked",
            "For applications that have another way to check. The site’s rules judge the item all the same.",
        ),
    };
    Choice::new(choice.as_str(), said)
}

/// All choices of a setting.
pub(crate) fn all<T: Copy>(values: &[T], said: fn(T) -> Choice) -> Vec<Choice> {
    values.iter().copied().map(said).collect()
}
