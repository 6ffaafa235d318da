//! What a process tells of itself, for all crates: [`trace`] connects the steps of an item, and
//! [`RepeatedFailure`] keeps what fails again and again to a few lines of the log.

mod repeated_failures;
pub mod trace;

pub use repeated_failures::{
    FIRST_DISTANCE, Failing, LONGEST_DISTANCE, Over, QUIET, RepeatedFailure,
};
#[doc(hidden)]
pub use tracing;
