//! Statistics: the spans of time that figures are given for.

use crate::media::named_set;

named_set! {
    /// The length of a bucket.
    Interval {
        /// An hour.
        Hour = "hour",
        /// A day, in UTC.
        Day = "day",
    }
}
