//! Recoveries: sending an endpoint what it has missed or lost.

use crate::media::named_set;

named_set! {
    /// Which events a recovery sends.
    RecoveryKind {
        /// Events whose deliveries ended without success.
        Failed = "failed",
        /// Events that were delivered, for a receiver that has lost them.
        Delivered = "delivered",
        /// Events that never had a delivery to the endpoint, because it did not exist or was
        /// disabled.
        Missing = "missing",
    }
}
