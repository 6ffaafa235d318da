//! The states of a media item, and which state may follow which.

mod transition;

pub use transition::{NoRuling, Ruling, Seen, Standing, Step, VerdictNumber};

use crate::bounded_integer::BoundedInteger;

/// For how many days an item is kept after the last verdict about it.
pub type ItemRetentionDays = BoundedInteger<1, 3_650>;

/// For how many days the content of an item is kept after the last verdict about it.
pub type ContentRetentionDays = BoundedInteger<1, 3_650>;

/// Declares a closed set of names: an enum with the same spelling in JSON, in SQL and in `as_str`.
macro_rules! named_set {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every member, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in JSON and in SQL.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::media::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::media::UnknownName { set: stringify!($name), name: text.to_owned() }),
                }
            }
        }
    };
}
pub(crate) use named_set;

/// The text is not a member of the closed set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a valid {set}")]
pub struct UnknownName {
    /// The set's name.
    pub set: &'static str,
    /// The given text.
    pub name: String,
}

named_set! {
    /// The status of a media item.
    Status {
        /// Accepted, not yet judged.
        Pending = "pending",
        /// Safe to display.
        Approved = "approved",
        /// Should not be displayed.
        Rejected = "rejected",
        /// A person must decide.
        PendingReview = "pending_review",
    }
}

named_set! {
    /// What an application should do with an item.
    Action {
        /// Display it.
        Approve = "approve",
        /// Do not display it.
        Block = "block",
        /// Wait for a person.
        Review = "review",
    }
}

named_set! {
    /// Who or what decided.
    ModerationType {
        /// Scores of an analysis carried the decision.
        Ai = "ai",
        /// A person decided.
        Manual = "manual",
        /// A content rule carried the decision, or no analysis ran.
        Rule = "rule",
    }
}

named_set! {
    /// The kind of content of an item: an image if it has one.
    ContentType {
        /// There is an image, with or without text.
        Image = "image",
        /// Text alone.
        Text = "text",
    }
}

named_set! {
    /// A part of an item that is analysed separately.
    Modality {
        /// Its text.
        Text = "text",
        /// Its image.
        Image = "image",
    }
}

impl Default for Modality {
    /// Text. Older records have no modality, because only texts were analysed then.
    fn default() -> Self {
        Self::Text
    }
}

named_set! {
    /// How a site wants `status` to be spelled in answers.
    StatusVocabulary {
        /// The four states.
        State = "state",
        /// `pending` or `completed`, with the outcome in `action`.
        Completed = "completed",
    }
}

named_set! {
    /// A site's setting: what clients of OpenAI get for content of which something could not be checked.
    CompatUnchecked {
        /// The result is flagged, unless the site approved the item.
        Flag = "flag",
        /// The request ends with an error, for applications that have another way to check.
        Error = "error",
    }
}

named_set! {
    /// A site's setting for content that could not be checked and that no rule rejects. A review is
    /// the default.
    OnFailure {
        /// A person looks at it.
        Review = "review",
        /// It is rejected.
        Reject = "reject",
        /// It is approved, unless a rule asks for review.
        Approve = "approve",
    }
}

impl Status {
    /// What the application should do; none while pending.
    pub const fn action(self) -> Option<Action> {
        match self {
            Self::Pending => None,
            Self::Approved => Some(Action::Approve),
            Self::Rejected => Some(Action::Block),
            Self::PendingReview => Some(Action::Review),
        }
    }

    /// The state, spelled for a site with this vocabulary.
    pub const fn spelled(self, vocabulary: StatusVocabulary) -> &'static str {
        match (vocabulary, self) {
            (StatusVocabulary::State, _) | (StatusVocabulary::Completed, Self::Pending) => {
                self.as_str()
            }
            (
                StatusVocabulary::Completed,
                Self::Approved | Self::Rejected | Self::PendingReview,
            ) => "completed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_json_and_in_sql() {
        for status in Status::ALL {
            assert_eq!(
                serde_json::to_string(status).unwrap(),
                format!("{:?}", status.as_str())
            );
            assert_eq!(status.as_str().parse(), Ok(*status));
        }
        assert!("done".parse::<Status>().is_err());
    }

    #[test]
    fn a_site_that_asks_for_completed_never_sees_an_outcome_in_status() {
        let spelled = |status: Status| status.spelled(StatusVocabulary::Completed);
        assert_eq!(
            Status::ALL.iter().map(|s| spelled(*s)).collect::<Vec<_>>(),
            ["pending", "completed", "completed", "completed"]
        );
    }
}
