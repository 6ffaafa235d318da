//! Recoveries: what an endpoint has missed or lost is sent to it.

use crate::media::named_set;

named_set! {
    /// Which events a recovery sends.
    RecoveryKind {
        /// Those whose deliveries ended without success.
        Failed = "failed",
        /// Those that were delivered, for a receiver that has lost them.
        Delivered = "delivered",
        /// Those that never had a delivery to the endpoint, because it was not there or disabled.
        Missing = "missing",
    }
}
