//! What long commands tell while they run.

use std::time::Duration;

/// How often progress is shown.
pub(super) const SHOWN_EVERY: Duration = Duration::from_secs(5);

/// How many `things` are done, how much of a file of this many bytes is read, and how fast it goes.
#[expect(
    clippy::cast_precision_loss,
    reason = "a percentage and a rate for people"
)]
pub(super) fn so_far(things: &str, done: u64, took: Duration, ends_at: u64, bytes: u64) -> String {
    format!(
        "{done} {things}, {:.0} % of the file, {:.1} {things}/s",
        100.0 * ends_at as f64 / bytes.max(1) as f64,
        done as f64 / took.as_secs_f64()
    )
}
