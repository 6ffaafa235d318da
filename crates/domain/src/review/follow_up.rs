//! What follows when the time to undo a decision is over.

use super::{ReviewKind, Tier};
use crate::media::{Ruling, Status};

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
