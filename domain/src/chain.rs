//! Chains of jobs: work in the background that goes on slice by slice, a job for each slice. Backtests, imports, scans and
//! recoveries are chains.

use crate::media::named_set;

named_set! {
    /// The state of a chain.
    State {
        /// It goes on.
        Running = "running",
        /// It has done everything that it was started for.
        Finished = "finished",
        /// Somebody stopped it.
        Cancelled = "cancelled",
        /// It could not go on.
        Failed = "failed",
    }
}
