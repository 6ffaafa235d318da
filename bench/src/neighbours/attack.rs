//! The attacks, by name.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What the hostile team does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Attack {
    /// Rule groups that are as heavy as the service accepts, and one-byte texts for each
    Rules,
    /// Heavy rule groups edited, tried and imported over ten connections
    Editing,
    /// Texts of 100 KB that are slow to judge, and a backlog of ordinary ones
    Judging,
    /// As many endpoints as permitted, which answer 16 KiB, and repeated deliveries to them
    Storage,
    /// Images and endpoints on thousands of hosts that keep connections open, or never answer
    Sockets,
    /// Metadata nested as deeply as possible, and requests that are refused
    Metadata,
    /// The management interface, as fast as it answers, over many connections
    Flood,
    /// Connections that send a head or a body a few bytes at a time
    Slow,
}

impl Attack {
    pub(super) const ALL: [Self; 8] = [
        Self::Rules,
        Self::Editing,
        Self::Judging,
        Self::Storage,
        Self::Sockets,
        Self::Metadata,
        Self::Flood,
        Self::Slow,
    ];

    /// The name for the option `--only`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Editing => "editing",
            Self::Judging => "judging",
            Self::Storage => "storage",
            Self::Sockets => "sockets",
            Self::Metadata => "metadata",
            Self::Flood => "flood",
            Self::Slow => "slow",
        }
    }
}
