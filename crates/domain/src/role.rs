//! Roles of people: named sets of scopes.

use crate::{media::named_set, scope::Scope};

named_set! {
    /// The role of a person in a team, or on the whole instance.
    Role {
        /// Reads everything but tokens, legal holds and the audit log.
        Viewer = "viewer",
        /// A viewer who decides media items, on all sites or on some.
        Moderator = "moderator",
        /// A moderator for all sites, who also leads reviews.
        Lead = "lead",
        /// A lead who sets up sites, keys, rules, webhooks, hash lists, legal holds and people, and erases items.
        Admin = "admin",
        /// An admin who also manages owners and tokens, reads the audit log, and exports and closes sites and the team.
        Owner = "owner",
        /// Runs the instance and belongs to no team.
        Operator = "operator",
    }
}

const VIEWER: &[Scope] = &[
    Scope::TeamsRead,
    Scope::PlansRead,
    Scope::SubscriptionsRead,
    Scope::SitesRead,
    Scope::KeysRead,
    Scope::RulesRead,
    Scope::HashListsRead,
    Scope::WebhooksRead,
    Scope::UsageRead,
    Scope::MediaRead,
    Scope::PeopleRead,
    Scope::ReviewsRead,
];

const MODERATOR: &[Scope] = &above::<14>(VIEWER, &[Scope::MediaDecide, Scope::MediaAppeal]);

const LEAD: &[Scope] = &above::<15>(MODERATOR, &[Scope::ReviewsManage]);

const ADMIN: &[Scope] = &above::<25>(
    LEAD,
    &[
        Scope::SitesWrite,
        Scope::KeysWrite,
        Scope::RulesWrite,
        Scope::WebhooksWrite,
        Scope::HashListsWrite,
        Scope::PeopleWrite,
        Scope::ErasuresRead,
        Scope::ErasuresWrite,
        Scope::HoldsRead,
        Scope::HoldsWrite,
    ],
);

const OWNER: &[Scope] = &above::<32>(
    ADMIN,
    &[
        Scope::TeamsWrite,
        Scope::TokensRead,
        Scope::TokensWrite,
        Scope::AuditRead,
        Scope::SitesExport,
        Scope::ClosuresRead,
        Scope::ClosuresWrite,
    ],
);

/// The `N` scopes of a role: those of the role below it, and more. A wrong `N` does not compile.
const fn above<const N: usize>(below: &[Scope], more: &[Scope]) -> [Scope; N] {
    assert!(below.len() + more.len() == N);
    let mut scopes = [below[0]; N];
    let mut place = 0;
    while place < N {
        scopes[place] = if place < below.len() {
            below[place]
        } else {
            more[place - below.len()]
        };
        place += 1;
    }
    scopes
}

/// Operators see neither the content of media items nor webhook deliveries, because these belong to
/// the teams.
const OPERATOR: &[Scope] = &[
    Scope::TeamsRead,
    Scope::TeamsWrite,
    Scope::PlansRead,
    Scope::PlansWrite,
    Scope::SubscriptionsRead,
    Scope::SubscriptionsWrite,
    Scope::UsageRead,
    Scope::SitesRead,
    Scope::HashListsRead,
    Scope::HashListsWrite,
    Scope::PeopleRead,
    Scope::PeopleWrite,
    Scope::TokensRead,
    Scope::TokensWrite,
    Scope::AuditRead,
    Scope::ClosuresRead,
    Scope::ClosuresWrite,
    Scope::QueuesRead,
    Scope::QueuesWrite,
];

impl Role {
    /// The scopes of the role.
    pub const fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Viewer => VIEWER,
            Self::Moderator => MODERATOR,
            Self::Lead => LEAD,
            Self::Admin => ADMIN,
            Self::Owner => OWNER,
            Self::Operator => OPERATOR,
        }
    }

    /// Whether the role must sign in with a second factor, whatever the team's setting is.
    pub const fn requires_factor(self) -> bool {
        match self {
            Self::Admin | Self::Owner | Self::Operator => true,
            Self::Viewer | Self::Moderator | Self::Lead => false,
        }
    }

    /// Whether the role can be limited to some of the team's sites.
    pub const fn has_sites(self) -> bool {
        matches!(self, Self::Moderator)
    }

    /// A scope of the role that is not among these scopes. Nobody gives more than they have, so a
    /// caller with these scopes may give the role only if there is no such scope.
    pub fn beyond(self, scopes: &[Scope]) -> Option<Scope> {
        let mut own = self.scopes().iter().copied();
        own.find(|scope| !scopes.contains(scope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_of_a_team_has_what_the_one_before_it_has() {
        let roles = [
            Role::Viewer,
            Role::Moderator,
            Role::Lead,
            Role::Admin,
            Role::Owner,
        ];
        for pair in roles.windows(2) {
            assert_eq!(pair[0].beyond(pair[1].scopes()), None, "{pair:?}");
        }
        let above: Vec<bool> = roles
            .windows(2)
            .map(|pair| pair[1].beyond(pair[0].scopes()).is_some())
            .collect();
        assert_eq!(above, [true; 4]);
    }

    #[test]
    fn what_a_role_must_not_do_is_not_in_its_scopes() {
        for role in [Role::Viewer, Role::Moderator, Role::Lead, Role::Admin] {
            for scope in [
                Scope::TokensRead,
                Scope::TokensWrite,
                Scope::AuditRead,
                Scope::SitesExport,
                Scope::ClosuresRead,
                Scope::ClosuresWrite,
            ] {
                assert!(!role.scopes().contains(&scope), "{role} has {scope}");
            }
        }
        let writes = |role: Role| {
            let scopes = role.scopes().iter();
            scopes
                .filter(|scope| !scope.as_str().ends_with(":read"))
                .count()
        };
        assert_eq!(writes(Role::Viewer), 0);
        assert_eq!(writes(Role::Moderator), 2);
        for scope in [
            Scope::PlansWrite,
            Scope::SubscriptionsWrite,
            Scope::QueuesRead,
            Scope::QueuesWrite,
        ] {
            assert!(!Role::Owner.scopes().contains(&scope));
            assert!(Role::Operator.scopes().contains(&scope));
        }
        // Operators make tokens for operators, which can do no more than they.
        for scope in [Scope::TokensRead, Scope::TokensWrite] {
            assert!(Role::Operator.scopes().contains(&scope));
        }
        for scope in [
            Scope::MediaRead,
            Scope::MediaDecide,
            Scope::WebhooksRead,
            Scope::ReviewsRead,
            Scope::SitesExport,
        ] {
            assert!(!Role::Operator.scopes().contains(&scope));
        }
    }

    #[test]
    fn a_role_names_each_scope_once() {
        for role in Role::ALL {
            for (place, scope) in role.scopes().iter().enumerate() {
                assert!(!role.scopes()[..place].contains(scope), "{role}: {scope}");
            }
        }
    }
}
