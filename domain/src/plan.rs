//! Plans and subscriptions: how much a team may use.

use crate::{media::named_set, whole::Whole};

/// How many submissions of a team a billing period may have. The most is what a JSON number holds exactly.
pub type PerPeriod = Whole<0, 9_007_199_254_740_991>;

/// How many requests a site key may make in one UTC minute.
pub type PerMinute = Whole<1, 1_000_000>;

named_set! {
    /// How a team stands with its subscription.
    SubscriptionState {
        /// Submissions are accepted.
        Active = "active",
        /// They are accepted for some days more.
        PastDue = "past_due",
        /// They are refused.
        Cancelled = "cancelled",
    }
}
