//! Closures: a site or a team is disabled at once, and erased after a grace.

use crate::{bounded_integer::BoundedInteger, media::named_set};

/// Days from the start of a closure until what it closes is erased.
pub type GraceDays = BoundedInteger<0, 365>;

/// The most closures that a team can have, those included that ended in the last 90 days. It bounds what a team leaves behind that
/// closes sites again and again.
pub const MOST: i64 = 1_000;

named_set! {
    /// How far a closure is.
    ClosureState {
        /// Nothing is accepted any more. Everything is still there, and the closure can be cancelled.
        Grace = "grace",
        /// What is stored is being erased.
        Erasing = "erasing",
        /// It has ended.
        Closed = "closed",
        /// Somebody stopped it during the grace.
        Cancelled = "cancelled",
        /// It could not continue.
        Failed = "failed",
    }
}

named_set! {
    /// What a closure waits for, beside the end of its grace and its own erasures.
    WaitsFor {
        /// The grace is over, but a legal hold is in force.
        LegalHold = "legal_hold",
        /// The team has as many erasures as it can have.
        OtherErasures = "other_erasures",
        /// One of its erasures has failed, and is to be resumed.
        FailedErasure = "failed_erasure",
    }
}
