//! Distinguishes outages of the database from failures of a job.

use std::error::Error;

use apalis::prelude::BoxDynError;

/// Whether the database caused a handler's error, and not the job.
pub(crate) fn is_outage(error: &BoxDynError) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<store::Error>() {
            return error.is_outage();
        }
        cause = error.source();
    }
    false
}
