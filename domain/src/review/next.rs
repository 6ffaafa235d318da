//! What follows when the time to undo a decision is over.

use super::Tier;
use crate::media::Ruling;

/// The review at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Who was asked.
    pub tier: Tier,
    /// Whether two people must say the same, because of a policy.
    pub needs_two: bool,
    /// Whether the item still is as the person saw it.
    pub still_stands: bool,
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
    /// A second person is asked, who does not know what the first one said.
    AskAnother,
    /// The two do not agree: a lead is asked.
    AskLead,
    /// Somebody else decided about the item meanwhile. Nothing is told.
    Nothing,
}

/// What follows from what a person said. A lead's word is final.
pub fn next(task: Task, said: Said) -> Next {
    match (task.tier, said.before) {
        _ if !task.still_stands => Next::Nothing,
        (Tier::Leads, _) => Next::Tell,
        (Tier::Everybody, Some(before)) if before == said.ruling => Next::Tell,
        (Tier::Everybody, Some(_)) => Next::AskLead,
        (Tier::Everybody, None) if task.needs_two => Next::AskAnother,
        (Tier::Everybody, None) => Next::Tell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPROVE: Ruling = Ruling::Approve;
    const REJECT: Ruling = Ruling::Reject;

    #[test]
    fn what_follows_from_what_people_say() {
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
            let task = |still_stands| Task {
                tier,
                needs_two,
                still_stands,
            };
            assert_eq!(next(task(true), said), expected, "{tier} {said:?}");
            assert_eq!(next(task(false), said), Next::Nothing, "{tier} {said:?}");
        }
    }
}
