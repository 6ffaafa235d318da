//! Settings of a site in words.

use domain::media::{CompatUnchecked, OnFailure, StatusVocabulary};

/// A choice, and what it means.
pub(crate) struct Choice {
    pub(crate) value: &'static str,
    pub(crate) name: &'static str,
    pub(crate) hint: &'static str,
}

/// What happens to content that could not be checked.
pub(crate) const fn on_failure(choice: OnFailure) -> Choice {
    let (name, hint) = match choice {
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
    Choice {
        value: choice.as_str(),
        name,
        hint,
    }
}

/// How status queries spell the status.
pub(crate) const fn vocabulary(choice: StatusVocabulary) -> Choice {
    let (name, hint) = match choice {
        StatusVocabulary::State => (
            "Four states",
            "pending, approved, rejected or pending_review.",
        ),
        StatusVocabulary::Completed => (
            "Pending or completed",
            "pending or completed, with the result in action.",
        ),
    };
    Choice {
        value: choice.as_str(),
        name,
        hint,
    }
}

/// What clients of OpenAI get for content of which something could not be checked.
const fn compat_unchecked(choice: CompatUnchecked) -> Choice {
    let (name, hint) = match choice {
        CompatUnchecked::Flag => (
            "A flagged result",
            "Unless the site approves what cannot be checked, which is its setting above.",
        ),
        CompatUnchecked::Error => (
            "An error: 503 not_checked",
            "For applications that have another way to check. The site’s rules judge the item all the same.",
        ),
    };
    Choice {
        value: choice.as_str(),
        name,
        hint,
    }
}

/// All choices for content that could not be checked.
pub(crate) fn on_failures() -> Vec<Choice> {
    OnFailure::ALL.iter().copied().map(on_failure).collect()
}

/// All choices for what clients of OpenAI get.
pub(crate) fn compat_uncheckeds() -> Vec<Choice> {
    let choices = CompatUnchecked::ALL.iter().copied();
    choices.map(compat_unchecked).collect()
}

/// All spellings of the status.
pub(crate) fn vocabularies() -> Vec<Choice> {
    StatusVocabulary::ALL
        .iter()
        .copied()
        .map(vocabulary)
        .collect()
}
