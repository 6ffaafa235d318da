//! Which verdict can follow which.

use super::*;

fn ruled(status: Status, ruling: Ruling, expected: Option<Status>) -> Result<Step, NoRuling> {
    let verdicts = if status == Status::Pending { 0 } else { 3 };
    Standing { status, verdicts }.ruled(ruling, expected)
}

#[test]
fn a_person_decides_reviews_and_overturns_verdicts_but_changes_nothing_else() {
    use Status::{Approved, Pending, PendingReview, Rejected};
    for (status, ruling, expected) in [
        (Pending, Ruling::Approve, Err(NoRuling::StillPending)),
        (Pending, Ruling::Reject, Err(NoRuling::StillPending)),
        (PendingReview, Ruling::Approve, Ok(Approved)),
        (PendingReview, Ruling::Reject, Ok(Rejected)),
        (Approved, Ruling::Reject, Ok(Rejected)),
        (Rejected, Ruling::Approve, Ok(Approved)),
        (
            Approved,
            Ruling::Approve,
            Err(NoRuling::AlreadyDecided(Approved)),
        ),
        (
            Rejected,
            Ruling::Reject,
            Err(NoRuling::AlreadyDecided(Rejected)),
        ),
    ] {
        let step = ruled(status, ruling, None);
        assert_eq!(step.map(Step::to), expected, "{status} {ruling}");
        if let Ok(step) = step {
            assert_eq!((step.from().status, step.number()), (status, 4));
        }
    }
}

#[test]
fn a_person_who_saw_something_else_is_told_whatever_they_decided() {
    for ruling in Ruling::ALL {
        let stale = ruled(Status::Rejected, *ruling, Some(Status::PendingReview));
        assert_eq!(stale, Err(NoRuling::Changed));
        let pending = ruled(Status::Pending, *ruling, Some(Status::PendingReview));
        assert_eq!(pending, Err(NoRuling::StillPending));
    }
    let fresh = ruled(Status::Rejected, Ruling::Approve, Some(Status::Rejected));
    assert!(fresh.is_ok());
}

#[test]
fn the_machines_verdict_is_the_first_and_comes_from_pending() {
    let step = Step::judged(Status::PendingReview);
    assert_eq!(step.from(), Standing::ACCEPTED);
    assert_eq!((step.number(), step.to()), (1, Status::PendingReview));
}
