//! Plans and subscriptions: how much a team may use.

use serde::Serialize;

use crate::{bounded_integer::BoundedInteger, media::named_set, name::Name};

/// How many submissions a team may make in a billing period, or how many webhooks they may cause.
/// The highest value is what a JSON number holds exactly.
pub type PerPeriod = BoundedInteger<0, 9_007_199_254_740_991>;

/// How many requests a site key may make in one UTC minute.
pub type PerMinute = BoundedInteger<1, 1_000_000>;

/// How many requests all site keys of a team together may make in one UTC minute.
pub type TeamPerMinute = BoundedInteger<1, 10_000_000>;

/// How many endpoints a site may have. Each of them gets an event for every item, so the highest
/// value is what the service was measured with.
pub type EndpointsPerSite = BoundedInteger<0, 100>;

/// How many things of a kind a team may have.
pub type PerTeam = BoundedInteger<0, 100_000>;

/// How many hash lists a team may have.
pub type ListsPerTeam = BoundedInteger<0, 1_000>;

named_set! {
    /// What a plan limits, by the name of the plan's member.
    Limit {
        /// Webhook endpoints of a site.
        Endpoints = "endpoints_per_site",
        /// Sites of a team.
        Sites = "sites_per_team",
        /// Site keys of a team that are not disabled.
        SiteKeys = "site_keys_per_team",
        /// Management tokens of a team that are neither disabled nor expired.
        ManagementTokens = "management_tokens_per_team",
        /// Rule groups of a team.
        RuleGroups = "rule_groups_per_team",
        /// Hash lists of a team.
        HashLists = "hash_lists_per_team",
    }
}

/// How many things a team may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Webhook endpoints of each site.
    pub endpoints_per_site: EndpointsPerSite,
    /// Sites.
    pub sites_per_team: PerTeam,
    /// Site keys that are not disabled.
    pub site_keys_per_team: PerTeam,
    /// Management tokens that are neither disabled nor expired.
    pub management_tokens_per_team: PerTeam,
    /// Rule groups.
    pub rule_groups_per_team: PerTeam,
    /// Hash lists.
    pub hash_lists_per_team: ListsPerTeam,
}

impl Limits {
    /// The limit for one kind of thing.
    pub const fn of(&self, limit: Limit) -> i64 {
        match limit {
            Limit::Endpoints => self.endpoints_per_site.get(),
            Limit::Sites => self.sites_per_team.get(),
            Limit::SiteKeys => self.site_keys_per_team.get(),
            Limit::ManagementTokens => self.management_tokens_per_team.get(),
            Limit::RuleGroups => self.rule_groups_per_team.get(),
            Limit::HashLists => self.hash_lists_per_team.get(),
        }
    }
}

impl Default for Limits {
    /// A hundred sites are more than most teams have. Each site has a default rule group and a key.
    /// Twice as many of these are allowed: room for the team's own groups, and for the next key
    /// beside the present one.
    fn default() -> Self {
        Self {
            endpoints_per_site: EndpointsPerSite::of::<10>(),
            sites_per_team: PerTeam::of::<100>(),
            site_keys_per_team: PerTeam::of::<200>(),
            management_tokens_per_team: PerTeam::of::<100>(),
            rule_groups_per_team: PerTeam::of::<200>(),
            hash_lists_per_team: ListsPerTeam::of::<100>(),
        }
    }
}

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

/// A limit of a plan that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct LimitReached {
    /// The limit.
    pub limit: Limit,
    /// The highest number allowed.
    pub allowed: i64,
}

impl LimitReached {
    /// Names the limit, and says what to do.
    fn sentence(&self) -> String {
        let (things, remedy) = match self.limit {
            Limit::Endpoints => ("webhook endpoints of a site", "Delete one that is not used"),
            Limit::Sites => ("sites of a team", "Use one that exists"),
            Limit::SiteKeys => ("site keys of a team", "Disable one that is not used"),
            Limit::ManagementTokens => (
                "management tokens of a team",
                "Disable one that is not used",
            ),
            Limit::RuleGroups => ("rule groups of a team", "Delete one that is not used"),
            Limit::HashLists => ("hash lists of a team", "Delete one that is not used"),
        };
        let Self { limit, allowed } = self;
        format!(
            "The plan allows {allowed} {things} ({limit}), and there are as many already. {remedy}, or ask the operator for a \
             higher limit."
        )
    }
}

named_set! {
    /// The state of a team's subscription.
    SubscriptionState {
        /// Submissions are accepted.
        Active = "active",
        /// Submissions are accepted for some more days.
        PastDue = "past_due",
        /// Submissions are refused.
        Cancelled = "cancelled",
    }
}
