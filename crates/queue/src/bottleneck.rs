//! The bottleneck of a queue in a process, which holds its jobs back: slots, a group's share of them, a cap, what
//! running jobs wait for, or the database. Each process looks a few times a second, counts the time,
//! and tells the others with its heartbeats.

mod report;
mod sampler;
mod waits;

pub use self::report::BottleneckShare;
pub(crate) use self::report::{Report, read};
pub(crate) use self::sampler::run;
pub(crate) use self::waits::AllWaits;
pub use self::waits::{Waiting, Waits};

/// What holds jobs back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bottleneck {
    /// All slots of the process are taken.
    Slots,
    /// Slots are free, but the groups and lanes whose jobs wait have as many as they may have.
    TeamShare,
    /// A lane or a group has as many jobs as its cap allows, over all processes.
    Cap,
    /// Jobs wait for a provider: for one of the requests that it may get at once, or because it is
    /// paused.
    ProviderLimit,
    /// A receiver takes no more in this second.
    EndpointPace,
    /// Claims fail or are slow, results are recorded late, or the pool has no free connection.
    Database,
}

impl Bottleneck {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Slots,
        Self::TeamShare,
        Self::Cap,
        Self::ProviderLimit,
        Self::EndpointPace,
        Self::Database,
    ];

    /// The name in metrics and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::TeamShare => "team_share",
            Self::Cap => "cap",
            Self::ProviderLimit => "provider_limit",
            Self::EndpointPace => "endpoint_pace",
            Self::Database => "database",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bound| bound.as_str() == name)
    }
}
