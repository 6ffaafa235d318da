//! The states of a media item, and which state may follow which: the machine's verdict comes first, and people may change it
//! later.

#[cfg(test)]
mod tests;

use crate::bounded_integer::BoundedInteger;

/// For how many days an item is kept after the last verdict about it.
pub type ItemRetentionDays = BoundedInteger<1, 3_650>;

/// For how many days the content of an item is kept after the last verdict about it.
pub type ContentRetentionDays = BoundedInteger<1, 3_650>;

/// Declares an enum with the same spelling in JSON, in SQL and in `as_str`.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
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
pub(crate) use named_enum;

/// Declares a closed set of names: an enum of `named_enum!` that can list its members.
macro_rules! named_set {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $crate::media::named_enum! {
            $(#[$doc])* $name { $($(#[$variant_doc])* $variant = $text),+ }
        }

        impl $name {
            /// Every member, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
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

named_set! {
    /// What a person decides about an item.
    Ruling {
        /// It may be displayed.
        Approve = "approve",
        /// It may not.
        Reject = "reject",
    }
}

impl Ruling {
    /// The resulting status.
    pub const fn status(self) -> Status {
        match self {
            Self::Approve => Status::Approved,
            Self::Reject => Status::Rejected,
        }
    }
}

/// The state of an item: its status, and the number of its verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its status.
    pub status: Status,
    /// How many verdicts it has had. The last one is in force.
    pub verdicts: u16,
}

/// An item's next verdict, from one state to the next. It may be stored only while the item is
/// still in the first state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    from: Standing,
    to: Status,
}

/// What a person saw when deciding. Fields that are `None` are not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The item's status.
    pub status: Option<Status>,
    /// The number of the verdict in force. A status can come back, a number never does.
    pub verdict: Option<VerdictNumber>,
}

/// The number of a verdict. An item's verdicts count from 1.
pub type VerdictNumber = BoundedInteger<1, { i16::MAX as i64 }>;

/// Why a person cannot decide this now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRuling {
    /// The machine's verdict comes first.
    #[error("the item is still pending")]
    StillPending,
    /// The item is not in the state that the person saw.
    #[error("the item has changed in the meantime")]
    Changed,
    /// The verdict in force is not the one that the person saw.
    #[error("the item has the verdict {} by now: it is {}", .0.verdicts, .0.status)]
    VerdictChanged(Standing),
    /// The item already has this status.
    #[error("the item is already {0}")]
    AlreadyDecided(Status),
}

impl Standing {
    /// An item that was just accepted.
    pub const ACCEPTED: Self = Self {
        status: Status::Pending,
        verdicts: 0,
    };

    /// A person's verdict, if the item still is as the person saw it.
    pub fn ruled(self, ruling: Ruling, seen: Seen) -> Result<Step, NoRuling> {
        let to = ruling.status();
        match self.status {
            Status::Pending => Err(NoRuling::StillPending),
            _ if seen
                .verdict
                .is_some_and(|seen| seen.get() != i64::from(self.verdicts)) =>
            {
                Err(NoRuling::VerdictChanged(self))
            }
            now if seen.status.is_some_and(|status| status != now) => Err(NoRuling::Changed),
            now if now == to => Err(NoRuling::AlreadyDecided(now)),
            Status::Approved | Status::Rejected | Status::PendingReview => {
                Ok(Step { from: self, to })
            }
        }
    }
}

impl Step {
    /// The machine's verdict on an accepted item. `to` is anything but `pending`.
    pub const fn judged(to: Status) -> Self {
        Self {
            from: Standing::ACCEPTED,
            to,
        }
    }

    /// The state in which the item must still be.
    pub const fn from(self) -> Standing {
        self.from
    }

    /// The status that it leads to.
    pub const fn to(self) -> Status {
        self.to
    }

    /// The number of the verdict; an item's verdicts count from 1.
    pub const fn number(self) -> u16 {
        self.from.verdicts.saturating_add(1)
    }
}
