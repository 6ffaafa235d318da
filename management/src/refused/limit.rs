//! Limits that the database keeps: what a person can do about them.

use super::Refused;

impl Refused {
    /// What to do, if a limit refused it.
    pub fn limit(&self) -> Option<String> {
        match self {
            Self::Store(store::Error::LimitReached(limit)) => Some(limit.to_string()),
            Self::Store(store::Error::TooManyDeleted(deleted)) => Some(too_many_deleted(*deleted)),
            _ => None,
        }
    }
}

/// The site keeps this many deleted endpoints.
pub fn too_many_deleted(deleted: i64) -> String {
    format!(
        "The site has deleted {deleted} webhook endpoints whose deliveries are still kept, which is the most. Change an \
         endpoint that exists, or wait until the retention has removed the deliveries of deleted ones."
    )
}
