//! What a management token may do.

use crate::media::named_set;

named_set! {
    /// One thing that a management token may do. Scopes are independent: writing does not include
    /// reading.
    Scope {
        /// See teams.
        TeamsRead = "teams:read",
        /// Rename teams; as an operator, create them.
        TeamsWrite = "teams:write",
        /// See plans.
        PlansRead = "plans:read",
        /// As an operator, create and change plans.
        PlansWrite = "plans:write",
        /// See subscriptions.
        SubscriptionsRead = "subscriptions:read",
        /// As an operator, change subscriptions.
        SubscriptionsWrite = "subscriptions:write",
        /// See sites.
        SitesRead = "sites:read",
        /// Create and change sites.
        SitesWrite = "sites:write",
        /// Export all data of sites: items with their content, verdicts, rules, and the audit log.
        SitesExport = "sites:export",
        /// See site keys, never the keys themselves.
        KeysRead = "keys:read",
        /// Create, rotate and disable site keys.
        KeysWrite = "keys:write",
        /// See rule groups, their versions and the results of their tests.
        RulesRead = "rules:read",
        /// Edit, publish, test and delete rule groups.
        RulesWrite = "rules:write",
        /// See hash lists, their entries and their matches.
        HashListsRead = "hash_lists:read",
        /// Create, fill, empty and delete hash lists, and scan stored images.
        HashListsWrite = "hash_lists:write",
        /// See webhook endpoints and their deliveries, including the content; never their secrets.
        WebhooksRead = "webhooks:read",
        /// Create, change, test and delete webhook endpoints, rotate webhook secrets, send
        /// deliveries again.
        WebhooksWrite = "webhooks:write",
        /// See how much was used.
        UsageRead = "usage:read",
        /// See tokens, never the tokens themselves.
        TokensRead = "tokens:read",
        /// Create tokens with no more scopes than one's own, and disable tokens.
        TokensWrite = "tokens:write",
        /// See who changed what.
        AuditRead = "audit:read",
        /// See media items, their content and their verdicts.
        MediaRead = "media:read",
        /// Decide media items.
        MediaDecide = "media:decide",
        /// Appeal against verdicts: somebody else looks again.
        MediaAppeal = "media:appeal",
        /// See the policies of the review desk, its settings, and how much waits.
        ReviewsRead = "reviews:read",
        /// Lead reviews: the second tier, what waits in detail, policies, and the settings of the
        /// desk.
        ReviewsManage = "reviews:manage",
        /// See legal holds.
        HoldsRead = "holds:read",
        /// Create and lift legal holds.
        HoldsWrite = "holds:write",
        /// See the people of a team, their invitations and their sessions.
        PeopleRead = "people:read",
        /// Invite people, change their roles, disable them, end their sessions.
        PeopleWrite = "people:write",
        /// See erasures and their certificates.
        ErasuresRead = "erasures:read",
        /// Erase everything that is stored about media items.
        ErasuresWrite = "erasures:write",
        /// See closures of sites and teams.
        ClosuresRead = "closures:read",
        /// Close sites and teams: everything that is stored about them is erased after a grace.
        ClosuresWrite = "closures:write",
        /// As an operator, see the queues, their workers and dead jobs.
        QueuesRead = "queues:read",
        /// As an operator, pause, resume and cap queues, and replay dead jobs.
        QueuesWrite = "queues:write",
    }
}

impl Scope {
    /// Whether a person must have entered the password recently to use this scope, because it
    /// changes keys, tokens or roles, or erases items.
    pub const fn needs_recent_password(self) -> bool {
        matches!(
            self,
            Self::KeysWrite
                | Self::TokensWrite
                | Self::PeopleWrite
                | Self::ErasuresWrite
                | Self::ClosuresWrite
        )
    }

    /// Whether something can be changed with this scope in a team that is closed: what ends the closure.
    pub const fn is_for_closed_teams(self) -> bool {
        matches!(self, Self::ErasuresWrite | Self::ClosuresWrite)
    }
}
