//! Reviews: what people are asked to look at, how urgent it is, and what follows from what they say.

mod agreement;
mod follow_up;
mod note;
mod policy;

pub use agreement::{Kappa, Pairs};
pub use follow_up::{Next, Said, Task, next};
pub use note::{InvalidNote, NoteText};
pub use policy::{Guideline, InvalidGuideline, InvalidPolicyCode, PolicyCode};

use std::time::Duration;

use crate::{bounded_integer::BoundedInteger, media::named_set};

/// How long a review is somebody's alone, from the last sign of activity on.
pub const LEASE: Duration = Duration::from_mins(5);

/// How long somebody can keep a review, however active.
pub const LONGEST_LEASE: Duration = Duration::from_hours(1);

/// The most reviews that one person has at the same time.
pub const MOST_LEASED: usize = 20;

/// After this many people have skipped a review, it goes to the leads.
pub const MOST_SKIPS: i16 = 3;

/// The most reviews that one bulk decision is about.
pub const MOST_IN_BULK: usize = 10_000;

/// The most reviews that a bulk decision can name. With a filter, it can be about more of them.
pub const MOST_NAMED_IN_BULK: usize = 500;

/// So many reviews are shown before a bulk decision.
pub const SHOWN_OF_BULK: usize = 50;

/// The most policies of a team.
pub const MOST_POLICIES: i64 = 100;

/// For how many seconds a decision can be undone before it is told.
pub type UndoSeconds = BoundedInteger<0, 60>;

/// Within how many minutes a person should have decided: a year at most.
pub type ReviewMinutes = BoundedInteger<1, 525_600>;

/// Which percentage of what one person decided is shown to a second one.
pub type AuditPercent = BoundedInteger<0, 100>;

/// One in so many reviews is of an item whose answer is known.
pub type GoldenEvery = BoundedInteger<5, 1_000>;

/// The key of a policy on the desk.
pub type PolicyKey = BoundedInteger<1, 9>;

named_set! {
    /// How urgent a review is: that of the most urgent policy that is suggested for it.
    Severity {
        /// It can wait.
        Low = "low",
        /// That of items for which no policy is suggested.
        Normal = "normal",
        /// Before others.
        High = "high",
        /// At once.
        Critical = "critical",
    }
}

named_set! {
    /// Why a person is asked.
    ReviewKind {
        /// The item waits for its verdict.
        Review = "review",
        /// A second person looks at an item that one person decided, without knowing it.
        Audit = "audit",
        /// The answer is known, and the person does not know that.
        Golden = "golden",
        /// Somebody has appealed against the item's verdict.
        Appeal = "appeal",
    }
}

named_set! {
    /// Who is asked.
    Tier {
        /// Everybody who may decide items of the site.
        Everybody = "everybody",
        /// People who lead reviews.
        Leads = "leads",
    }
}

named_set! {
    /// What became of what a person said.
    Outcome {
        /// It was told to the application.
        Told = "told",
        /// A second person must say the same first.
        Waits = "waits",
        /// It was what the other person said, or what the verdict in force says.
        Agreed = "agreed",
        /// The other person, or the verdict in force, said something else.
        Disagreed = "disagreed",
        /// Somebody else had decided about the item by then.
        Superseded = "superseded",
        /// The answer is known, and it was this one.
        Right = "right",
        /// The answer is known, and it was another one.
        Wrong = "wrong",
    }
}

impl Severity {
    /// The number in SQL: a higher one is more urgent.
    pub const fn number(self) -> i16 {
        match self {
            Self::Low => 0,
            Self::Normal => 1,
            Self::High => 2,
            Self::Critical => 3,
        }
    }

    /// The severity with this number, if there is one.
    pub fn of_number(number: i16) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|severity| severity.number() == number)
    }
}

impl Tier {
    /// The number in SQL.
    pub const fn number(self) -> i16 {
        match self {
            Self::Everybody => 1,
            Self::Leads => 2,
        }
    }

    /// The tier with this number, if there is one.
    pub fn of_number(number: i16) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|tier| tier.number() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_what_they_stand_for() {
        for severity in Severity::ALL {
            assert_eq!(Severity::of_number(severity.number()), Some(*severity));
        }
        for tier in Tier::ALL {
            assert_eq!(Tier::of_number(tier.number()), Some(*tier));
        }
        assert_eq!(Severity::of_number(4), None);
        assert_eq!(Tier::of_number(0), None);
    }
}
