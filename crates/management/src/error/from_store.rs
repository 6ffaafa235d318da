//! Refusals of the store that a caller can do something about.

use store::Error;

use super::{Refused, conflict::Conflict};

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error {
            Error::NameTaken => Self::conflict(
                Conflict::NameTaken,
                "Another one has this name already; names are unique.",
            ),
            Error::LimitReached(limit) => Self::conflict(Conflict::LimitReached, limit.to_string()),
            Error::TooManyDeleted(deleted) => Self::conflict(
                Conflict::LimitReached,
                format!(
                    "The site has deleted {deleted} webhook endpoints whose deliveries are still kept, which is the most. Change an \
                     endpoint that exists, or wait until the retention has removed the deliveries of deleted ones."
                ),
            ),
            Error::UnknownPlan => Self::field("plan_id", "is no plan"),
            Error::Overloaded => Self::Overloaded,
            error @ (Error::Sql(_) | Error::Unreadable(_) | Error::Unavailable) => {
                Self::Store(error)
            }
        }
    }
}
