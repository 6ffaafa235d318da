//! The places of the navigation: where one can go in a team, and on the whole instance.

use domain::{id::TeamId, scope::Scope};

/// Where a page belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// A team.
    Team(TeamId),
    /// The whole instance, for operators.
    Instance,
    /// The person's own account.
    Own,
}

impl At {
    /// The path of a place there.
    pub(crate) fn path(self, place: &str) -> String {
        match self {
            Self::Team(team) => format!("/t/{team}/{place}"),
            Self::Instance => format!("/instance/{place}"),
            Self::Own => "/account".to_owned(),
        }
    }

    /// Its first page.
    pub(crate) fn home(self) -> String {
        match self {
            Self::Team(_) => self.path("sites"),
            Self::Instance | Self::Own => Self::Own.path(""),
        }
    }

    /// The navigation there.
    pub(super) const fn places(self) -> &'static [Place] {
        match self {
            Self::Team(_) => TEAM,
            Self::Instance => INSTANCE,
            Self::Own => &[],
        }
    }
}

/// An entry of the navigation.
pub(super) struct Place {
    /// What people read.
    pub(super) name: &'static str,
    /// The last part of its path.
    pub(super) path: &'static str,
    /// The id of its icon.
    pub(super) icon: &'static str,
    /// Without it, the place is not offered.
    pub(super) scope: Scope,
    /// The heading of the entries that begin with this one.
    pub(super) heading: Option<&'static str>,
}

const fn place(name: &'static str, path: &'static str, icon: &'static str, scope: Scope) -> Place {
    Place {
        name,
        path,
        icon,
        scope,
        heading: None,
    }
}

#[rustfmt::skip]
const TEAM: &[Place] = &[
    place("Sites", "sites", "sites", Scope::SitesRead),
    Place { heading: Some("Team"), ..place("Usage and plan", "usage", "usage", Scope::UsageRead) },
];

#[rustfmt::skip]
const INSTANCE: &[Place] = &[
    place("Queues", "queues", "overview", Scope::QueuesRead),
    place("Dead jobs", "dead-jobs", "items", Scope::QueuesRead),
    place("Providers", "providers", "hooks", Scope::SitesRead),
];
