//! Which verdict can follow which.

use super::*;

fn ruled(status: Status, ruling: Ruling, expected: Option<Status>) -> Result<Step, NoRuling> {
    let seen = Seen {
        status: expected,
        verdict: None,
    };
    standing(status).ruled(ruling, seen)
}

fn standing(status: Status) -> Standing {
    let verdicts = if status == Status::Pending { 0 } else { 3 };
    Standing { status, verdicts }
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
fn a_person_who_saw_another_verdict_is_told_the_present_one_even_if_the_status_is_the_same() {
    let saw = |verdict, status, at: Status, ruling| {
        standing(at).ruled(
            ruling,
            Seen {
                status,
                verdict: Some(VerdictNumber::try_from(verdict).unwrap()),
            },
        )
    };
    let review = Status::PendingReview;
    for verdict in [1, 2, 4, i64::from(i16::MAX)] {
        for (ruling, status) in [(Ruling::Approve, None), (Ruling::Reject, Some(review))] {
            let stale = saw(verdict, status, review, ruling);
            assert_eq!(stale, Err(NoRuling::VerdictChanged(standing(review))));
        }
    }
    let fresh = saw(3, None, review, Ruling::Reject).unwrap();
    assert_eq!(fresh.number(), 4);
    // Both are compared, and a pending item has no verdict to compare.
    let other = saw(3, Some(Status::Approved), review, Ruling::Reject);
    assert_eq!(other, Err(NoRuling::Changed));
    let pending = saw(1, None, Status::Pending, Ruling::Reject);
    assert_eq!(pending, Err(NoRuling::StillPending));
    // Somebody else decided the same: the number differs, and that is the reason given.
    let same = saw(2, None, Status::Rejected, Ruling::Reject);
    assert_eq!(
        same,
        Err(NoRuling::VerdictChanged(standing(Status::Rejected)))
    );
}

#[test]
fn the_machines_verdict_is_the_first_and_comes_from_pending() {
    let step = Step::judged(Status::PendingReview);
    assert_eq!(step.from(), Standing::ACCEPTED);
    assert_eq!((step.number(), step.to()), (1, Status::PendingReview));
}

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
