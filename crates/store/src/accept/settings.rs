//! How submissions are gathered, and how long they may wait.

use std::time::Duration;

use super::retention::Retention;
use crate::gather::Bounds;

/// How submissions are gathered and how long they may wait for Postgres.
#[derive(Clone, Copy, Debug)]
pub struct AcceptSettings {
    /// The bounds of the gathering.
    pub bounds: Bounds,
    /// The bounds for inline images, which are stored before.
    pub images: Bounds,
    /// How long a submission may wait for Postgres, from its arrival on.
    pub patience: Duration,
    /// What is forgotten in the background, and when.
    pub retention: Retention,
}

impl Default for AcceptSettings {
    fn default() -> Self {
        Self {
            bounds: Bounds {
                waiting: 4_096,
                waiting_bytes: 256 << 20,
                batch: 256,
                batch_bytes: 16 << 20,
                // While one batch commits, the next one fills: a second writer would halve the
                // batches and double their number.
                runners: 1,
            },
            images: Bounds {
                waiting: 1_024,
                waiting_bytes: 256 << 20,
                batch: 64,
                batch_bytes: 16 << 20,
                runners: 1,
            },
            patience: Duration::from_secs(10),
            retention: Retention::default(),
        }
    }
}
