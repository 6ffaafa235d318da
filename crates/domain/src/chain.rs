//! Chains of jobs: background work in slices, with one job per slice. Backtests, imports, scans,
//! recoveries, bulk decisions, erasures and closures are chains.

use crate::media::named_set;

named_set! {
    /// The state of a chain.
    State {
        /// It is running.
        Running = "running",
        /// All of its work is done.
        Finished = "finished",
        /// Somebody stopped it.
        Cancelled = "cancelled",
        /// It could not continue.
        Failed = "failed",
    }
}
