//! A new plan.

use api_common::field::Field;
use domain::{
    name::Name,
    plan::{EndpointsPerSite, Limits, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute},
};
use poem_openapi::Object;
use serde::Deserialize;
use store::plan::Terms;

use super::or;

/// A plan to create.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPlan {
    /// The name of the plan. No other plan can have the same name.
    name: Field<Name>,
    /// The most submissions that a team can make in a billing period. `null` means no limit.
    #[oai(nullable)]
    submissions_per_period: Option<Field<PerPeriod>>,
    /// The most webhooks that a team's submissions can cause in a billing period. `null` means no
    /// limit.
    #[oai(nullable)]
    deliveries_per_period: Option<Field<PerPeriod>>,
    /// The most submissions that each site key can make in a UTC minute. The default is 1,000.
    submissions_per_minute: Option<Field<PerMinute>>,
    /// The most status queries that each site key can make in a UTC minute. The default is 2,000.
    status_queries_per_minute: Option<Field<PerMinute>>,
    /// The most submissions that all site keys of a team together can make in a UTC minute. `null`
    /// means ten times `submissions_per_minute`.
    #[oai(nullable)]
    team_submissions_per_minute: Option<Field<TeamPerMinute>>,
    /// The most status queries that all site keys of a team together can make in a UTC minute.
    /// `null` means ten times `status_queries_per_minute`.
    #[oai(nullable)]
    team_status_queries_per_minute: Option<Field<TeamPerMinute>>,
    /// The most webhook endpoints that a site can have. The default is 10.
    endpoints_per_site: Option<Field<EndpointsPerSite>>,
    /// The most sites that a team can have. The default is 100.
    sites_per_team: Option<Field<PerTeam>>,
    /// The most site keys that a team can have. The default is 200.
    site_keys_per_team: Option<Field<PerTeam>>,
    /// The most management tokens that a team can have. The default is 100.
    management_tokens_per_team: Option<Field<PerTeam>>,
    /// The most rule groups that a team can have. The default is 200.
    rule_groups_per_team: Option<Field<PerTeam>>,
    /// The most hash lists that a team can have. The default is 100.
    hash_lists_per_team: Option<Field<ListsPerTeam>>,
}

impl NewPlan {
    /// The terms of the new plan: omitted fields have their defaults.
    pub(crate) fn terms(self) -> Terms {
        let usual = Terms::named(self.name.0);
        Terms {
            submissions_per_period: self.submissions_per_period.map(|n| n.0),
            deliveries_per_period: self.deliveries_per_period.map(|n| n.0),
            submissions_per_minute: or(self.submissions_per_minute, usual.submissions_per_minute),
            status_queries_per_minute: or(
                self.status_queries_per_minute,
                usual.status_queries_per_minute,
            ),
            team_submissions_per_minute: self.team_submissions_per_minute.map(|n| n.0),
            team_status_queries_per_minute: self.team_status_queries_per_minute.map(|n| n.0),
            limits: Limits {
                endpoints_per_site: or(self.endpoints_per_site, usual.limits.endpoints_per_site),
                sites_per_team: or(self.sites_per_team, usual.limits.sites_per_team),
                site_keys_per_team: or(self.site_keys_per_team, usual.limits.site_keys_per_team),
                management_tokens_per_team: or(
                    self.management_tokens_per_team,
                    usual.limits.management_tokens_per_team,
                ),
                rule_groups_per_team: or(
                    self.rule_groups_per_team,
                    usual.limits.rule_groups_per_team,
                ),
                hash_lists_per_team: or(self.hash_lists_per_team, usual.limits.hash_lists_per_team),
            },
            ..usual
        }
    }
}
