//! Reviews: what people are asked to look at, how urgent it is, and what follows from what they say.

mod agreement;
mod texts;

use std::time::Duration;

pub use self::{
    agreement::{Kappa, Pairs},
    texts::{Guideline, InvalidGuideline, InvalidNote, InvalidPolicyCode, NoteText, PolicyCode},
};
use crate::{
    bounded_integer::BoundedInteger,
    media::{Ruling, Status, named_set},
};

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

/// The review at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Why a person was asked.
    pub kind: ReviewKind,
    /// Who was asked.
    pub tier: Tier,
    /// Whether two people must say the same, because of a policy.
    pub needs_two: bool,
    /// The item's status, if the item still is as the person saw it.
    pub stands: Option<Status>,
}

/// What the people said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// What this person said.
    pub ruling: Ruling,
    /// What another person said before, if a second one was needed.
    pub before: Option<Ruling>,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is the item's verdict.
    Tell,
    /// It is what the verdict in force says. The review ends, and nothing is told.
    Keep,
    /// A second person is asked, who does not know what the first one said.
    AskAnother,
    /// Two people do not agree: a lead is asked.
    AskLead,
    /// The answer is known: it is noted whether the person found it.
    Grade,
    /// Somebody else decided about the item meanwhile. Nothing is told.
    Nothing,
}

/// What follows from what a person said. A lead's word is final.
pub fn next(task: Task, said: Said) -> Next {
    if task.kind == ReviewKind::Golden {
        return Next::Grade;
    }
    let Some(status) = task.stands else {
        return Next::Nothing;
    };
    let agrees = said.ruling.status() == status;
    match (task.kind, task.tier) {
        (ReviewKind::Golden, _) => Next::Grade,
        (ReviewKind::Audit | ReviewKind::Appeal, _) if agrees => Next::Keep,
        (ReviewKind::Audit, Tier::Everybody) => Next::AskLead,
        (ReviewKind::Appeal, _) | (ReviewKind::Audit | ReviewKind::Review, Tier::Leads) => {
            Next::Tell
        }
        (ReviewKind::Review, Tier::Everybody) => match said.before {
            Some(before) if before == said.ruling => Next::Tell,
            Some(_) => Next::AskLead,
            None if task.needs_two => Next::AskAnother,
            None => Next::Tell,
        },
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

    const APPROVE: Ruling = Ruling::Approve;
    const REJECT: Ruling = Ruling::Reject;

    #[test]
    fn what_follows_from_what_people_say_about_an_item_that_waits() {
        let cases = [
            (Tier::Everybody, false, APPROVE, None, Next::Tell),
            (Tier::Everybody, true, REJECT, None, Next::AskAnother),
            (Tier::Everybody, true, REJECT, Some(REJECT), Next::Tell),
            (Tier::Everybody, true, APPROVE, Some(REJECT), Next::AskLead),
            // The policy was changed meanwhile: what was asked for is done.
            (Tier::Everybody, false, REJECT, Some(APPROVE), Next::AskLead),
            (Tier::Leads, true, APPROVE, None, Next::Tell),
            (Tier::Leads, true, APPROVE, Some(REJECT), Next::Tell),
            (Tier::Leads, false, REJECT, None, Next::Tell),
        ];
        for (tier, needs_two, ruling, before, expected) in cases {
            let said = Said { ruling, before };
            let task = |stands| Task {
                kind: ReviewKind::Review,
                tier,
                needs_two,
                stands,
            };
            let waiting = Some(Status::PendingReview);
            assert_eq!(next(task(waiting), said), expected, "{tier} {said:?}");
            assert_eq!(next(task(None), said), Next::Nothing, "{tier} {said:?}");
        }
    }

    #[test]
    fn what_follows_from_what_people_say_about_an_item_that_was_decided() {
        let cases = [
            (ReviewKind::Audit, Tier::Everybody, REJECT, Next::Keep),
            (ReviewKind::Audit, Tier::Everybody, APPROVE, Next::AskLead),
            (ReviewKind::Audit, Tier::Leads, REJECT, Next::Keep),
            (ReviewKind::Audit, Tier::Leads, APPROVE, Next::Tell),
            (ReviewKind::Appeal, Tier::Everybody, REJECT, Next::Keep),
            (ReviewKind::Appeal, Tier::Everybody, APPROVE, Next::Tell),
            (ReviewKind::Appeal, Tier::Leads, APPROVE, Next::Tell),
            (ReviewKind::Golden, Tier::Everybody, REJECT, Next::Grade),
            (ReviewKind::Golden, Tier::Everybody, APPROVE, Next::Grade),
        ];
        for (kind, tier, ruling, expected) in cases {
            let said = Said {
                ruling,
                before: None,
            };
            // A policy that asks for two people is for items that wait.
            for needs_two in [false, true] {
                let task = |stands| Task {
                    kind,
                    tier,
                    needs_two,
                    stands,
                };
                let rejected = Some(Status::Rejected);
                assert_eq!(next(task(rejected), said), expected, "{kind} {said:?}");
                let moved = next(task(None), said);
                let graded = kind == ReviewKind::Golden;
                assert_eq!(moved, if graded { Next::Grade } else { Next::Nothing });
            }
        }
    }
}
