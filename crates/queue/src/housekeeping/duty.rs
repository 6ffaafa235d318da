//! The duties of housekeeping, and how often each is done.

use std::time::Duration;

use crate::Config;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// Takes jobs from dead workers.
    Rescue,
    /// Promotes jobs that were committed after they were due.
    Promote,
    /// Removes rows that have no meaning any more.
    Tidy,
    /// Leaves generations behind.
    Generations,
    /// Looks for jobs that no claim can see.
    Unseen,
    /// Publishes the queues' depth.
    Gauges,
    /// Deletes dead jobs past their retention.
    Purge,
}

impl Duty {
    pub(super) const ALL: [Self; 7] = [
        Self::Rescue,
        Self::Promote,
        Self::Tidy,
        Self::Generations,
        Self::Unseen,
        Self::Gauges,
        Self::Purge,
    ];

    /// How often; `None` for a duty that is done once after each election.
    pub(super) const fn period(self, config: &Config) -> Option<Duration> {
        match self {
            Self::Rescue | Self::Promote | Self::Tidy => Some(config.sweep),
            Self::Generations => Some(config.tick),
            Self::Unseen => None,
            Self::Gauges => Some(config.stats),
            Self::Purge => Some(PURGE),
        }
    }
}

/// How often dead jobs past their retention are deleted.
const PURGE: Duration = Duration::from_mins(1);
