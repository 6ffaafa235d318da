//! What a process tells of itself, for all crates: [`trace`] connects the steps of an item, and
//! [`Repeated`] keeps what fails again and again to a few lines of the log.

mod repeated;
pub mod trace;

pub use repeated::{FIRST_DISTANCE, Failing, LONGEST_DISTANCE, Over, QUIET, Repeated};
#[doc(hidden)]
pub use tracing;
