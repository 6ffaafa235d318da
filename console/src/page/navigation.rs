//! The places of the navigation: where one can go in a team, and on the whole instance.

use domain::{id::TeamId, scope::Scope};

/// Where a page belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    Team(TeamId),
    /// The whole instance, for operators.
    Instance,
    /// The person's own account.
    Own,
}

impl Area {
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
            Self::Team(_) => self.path("overview"),
            Self::Instance => self.path("teams"),
            Self::Own => self.path(""),
        }
    }

    /// The team; none on the whole instance.
    pub(crate) fn team(self) -> Option<TeamId> {
        match self {
            Self::Team(team) => Some(team),
            Self::Instance | Self::Own => None,
        }
    }

    pub(super) const fn places(self) -> &'static [NavigationItem] {
        match self {
            Self::Team(_) => TEAM,
            Self::Instance => INSTANCE,
            Self::Own => &[],
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct NavigationItem {
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

const fn place(
    name: &'static str,
    path: &'static str,
    icon: &'static str,
    scope: Scope,
) -> NavigationItem {
    NavigationItem {
        name,
        path,
        icon,
        scope,
        heading: None,
    }
}

/// The entry with a heading above it.
const fn headed(heading: &'static str, place: NavigationItem) -> NavigationItem {
    NavigationItem {
        heading: Some(heading),
        ..place
    }
}

#[rustfmt::skip]
const TEAM: &[NavigationItem] = &[
    place("Overview", "overview", "overview", Scope::MediaRead),
    place("Desk", "desk", "desk", Scope::MediaDecide),
    place("Items", "items", "items", Scope::MediaRead),
    place("Rules", "rules", "rules", Scope::RulesRead),
    place("Hash lists", "hash-lists", "lists", Scope::HashListsRead),
    place("Webhooks", "webhooks", "hooks", Scope::WebhooksRead),
    place("Sites", "sites", "sites", Scope::SitesRead),
    place("Policies", "policies", "lists", Scope::ReviewsRead),
    place("Desk reports", "desk/quality", "usage", Scope::ReviewsManage),
    headed("Team", place("Usage and plan", "usage", "usage", Scope::UsageRead)),
    place("People", "people", "people", Scope::PeopleRead),
    place("Tokens", "tokens", "token", Scope::TokensRead),
    place("Erasures", "erasures", "items", Scope::ErasuresRead),
    place("Closures", "closures", "sites", Scope::ClosuresRead),
    place("Audit log", "audit", "audit", Scope::AuditRead),
];

#[rustfmt::skip]
const INSTANCE: &[NavigationItem] = &[
    place("Teams", "teams", "lists", Scope::TeamsRead),
    place("Plans", "plans", "usage", Scope::PlansRead),
    place("Hash lists", "hash-lists", "lists", Scope::HashListsRead),
    place("Queues", "queues", "overview", Scope::QueuesRead),
    place("Dead jobs", "dead-jobs", "items", Scope::QueuesRead),
    place("Providers", "providers", "hooks", Scope::SitesRead),
    place("People", "people", "people", Scope::PeopleRead),
    place("Tokens", "tokens", "token", Scope::TokensRead),
    place("Closures", "closures", "sites", Scope::ClosuresRead),
    place("Audit log", "audit", "audit", Scope::AuditRead),
];

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::router::Access;

    #[test]
    fn each_place_of_the_navigation_is_a_page_with_the_same_needs() {
        let routes = crate::routes::list();
        for at in [Area::Team(TeamId::from_uuid(Uuid::nil())), Area::Instance] {
            assert!(!at.places().is_empty());
            for place in at.places() {
                let path = match at {
                    Area::Team(_) => format!("/t/{{team}}/{}", place.path),
                    Area::Instance => format!("/instance/{}", place.path),
                    Area::Own => unreachable!("nobody asks"),
                };
                let needs = routes
                    .iter()
                    .find(|(method, known, _)| *method == "GET" && *known == path)
                    .map(|(_, _, needs)| *needs);
                assert_eq!(needs, Some(Access::Scope(place.scope)), "{path}");
                assert_eq!(
                    at.path(place.path)
                        .replace(&Uuid::nil().to_string(), "{team}"),
                    path
                );
            }
            let home = at.home().replace(&Uuid::nil().to_string(), "{team}");
            assert!(routes.iter().any(|(_, path, _)| *path == home), "{home}");
        }
    }

    #[test]
    fn each_icon_of_the_navigation_is_drawn() {
        let icons = include_str!("../../assets/icons.svg");
        for place in TEAM.iter().chain(INSTANCE) {
            assert!(
                icons.contains(&format!("id=\"{}\"", place.icon)),
                "{}",
                place.icon
            );
        }
    }
}
