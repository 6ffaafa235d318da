//! Plans: how much the teams that subscribe to them may use.

pub(crate) mod limit;
mod read;
mod row;
mod write;

use chrono::{DateTime, Utc};
use domain::{
    id::PlanId,
    name::Name,
    plan::{Limits, PerMinute, PerPeriod, TeamPerMinute},
};
use serde::Serialize;
use uuid::Uuid;

pub use self::{
    read::{find, list, lock},
    write::{change, create},
};

/// The plan that every database comes with: named `Unlimited` unless somebody renames it. New teams
/// subscribe to it unless another is named.
pub const UNLIMITED: PlanId =
    PlanId::from_uuid(Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0001));

/// What a plan is called and allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Terms {
    /// Its name; no two plans have the same.
    pub name: Name,
    /// Submissions of a team in a billing period; none means no limit.
    pub submissions_per_period: Option<PerPeriod>,
    /// Webhooks that a team's submissions cause in a billing period; none means no limit.
    pub deliveries_per_period: Option<PerPeriod>,
    /// Submissions of each site key in each UTC minute.
    pub submissions_per_minute: PerMinute,
    /// Status queries of each site key in each UTC minute.
    pub status_queries_per_minute: PerMinute,
    /// Submissions of all keys of a team in each UTC minute; none means ten times the limit of each
    /// key.
    pub team_submissions_per_minute: Option<TeamPerMinute>,
    /// Status queries of all keys of a team in each UTC minute; none means ten times the limit of
    /// each key.
    pub team_status_queries_per_minute: Option<TeamPerMinute>,
    /// How many things a team may have.
    #[serde(flatten)]
    pub limits: Limits,
}

impl Terms {
    /// The usual terms under this name: no limit for billing periods, and the default limits for
    /// minutes.
    pub fn named(name: Name) -> Self {
        Self {
            name,
            submissions_per_period: None,
            deliveries_per_period: None,
            submissions_per_minute: PerMinute::of::<1_000>(),
            status_queries_per_minute: PerMinute::of::<2_000>(),
            team_submissions_per_minute: None,
            team_status_queries_per_minute: None,
            limits: Limits::default(),
        }
    }
}

/// A plan. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The plan.
    pub id: PlanId,
    /// What it allows.
    #[serde(flatten)]
    pub terms: Terms,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}
