//! A change of a plan.

use api_common::field::{Field, given};
use domain::{
    name::Name,
    plan::{EndpointsPerSite, Limits, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute},
};
use poem_openapi::Object;
use serde::Deserialize;
use store::plan::Terms;

use super::or;

/// Fields of a plan to change. Omitted fields keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct PlanChange {
    /// The name of the plan. No other plan can have the same name.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
    /// The most submissions that a team can make in a billing period. `null` means no limit.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    submissions_per_period: Option<Option<Field<PerPeriod>>>,
    /// The most webhooks that a team's submissions can cause in a billing period. `null` means no
    /// limit.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    deliveries_per_period: Option<Option<Field<PerPeriod>>>,
    /// The most submissions that each site key can make in a UTC minute.
    #[serde(default, deserialize_with = "given")]
    submissions_per_minute: Option<Field<PerMinute>>,
    /// The most status queries that each site key can make in a UTC minute.
    #[serde(default, deserialize_with = "given")]
    status_queries_per_minute: Option<Field<PerMinute>>,
    /// The most submissions that all site keys of a team together can make in a UTC minute. `null`
    /// means ten times `submissions_per_minute`.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    team_submissions_per_minute: Option<Option<Field<TeamPerMinute>>>,
    /// The most status queries that all site keys of a team together can make in a UTC minute.
    /// `null` means ten times `status_queries_per_minute`.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    team_status_queries_per_minute: Option<Option<Field<TeamPerMinute>>>,
    /// The most webhook endpoints that a site can have. Sites that have more keep them.
    #[serde(default, deserialize_with = "given")]
    endpoints_per_site: Option<Field<EndpointsPerSite>>,
    /// The most sites that a team can have. Teams that have more keep them. The same is true of the
    /// limits below.
    #[serde(default, deserialize_with = "given")]
    sites_per_team: Option<Field<PerTeam>>,
    /// The most site keys that a team can have.
    #[serde(default, deserialize_with = "given")]
    site_keys_per_team: Option<Field<PerTeam>>,
    /// The most management tokens that a team can have.
    #[serde(default, deserialize_with = "given")]
    management_tokens_per_team: Option<Field<PerTeam>>,
    /// The most rule groups that a team can have.
    #[serde(default, deserialize_with = "given")]
    rule_groups_per_team: Option<Field<PerTeam>>,
    /// The most hash lists that a team can have.
    #[serde(default, deserialize_with = "given")]
    hash_lists_per_team: Option<Field<ListsPerTeam>>,
}

impl PlanChange {
    pub(crate) fn applied_to(self, terms: Terms) -> Terms {
        let limits = terms.limits;
        Terms {
            name: or(self.name, terms.name),
            submissions_per_period: or_null(
                self.submissions_per_period,
                terms.submissions_per_period,
            ),
            deliveries_per_period: or_null(self.deliveries_per_period, terms.deliveries_per_period),
            submissions_per_minute: or(self.submissions_per_minute, terms.submissions_per_minute),
            status_queries_per_minute: or(
                self.status_queries_per_minute,
                terms.status_queries_per_minute,
            ),
            team_submissions_per_minute: or_null(
                self.team_submissions_per_minute,
                terms.team_submissions_per_minute,
            ),
            team_status_queries_per_minute: or_null(
                self.team_status_queries_per_minute,
                terms.team_status_queries_per_minute,
            ),
            limits: Limits {
                endpoints_per_site: or(self.endpoints_per_site, limits.endpoints_per_site),
                sites_per_team: or(self.sites_per_team, limits.sites_per_team),
                site_keys_per_team: or(self.site_keys_per_team, limits.site_keys_per_team),
                management_tokens_per_team: or(
                    self.management_tokens_per_team,
                    limits.management_tokens_per_team,
                ),
                rule_groups_per_team: or(self.rule_groups_per_team, limits.rule_groups_per_team),
                hash_lists_per_team: or(self.hash_lists_per_team, limits.hash_lists_per_team),
            },
        }
    }
}

#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(super) fn or_null<T>(given: Option<Option<Field<T>>>, otherwise: Option<T>) -> Option<T> {
    given.map_or(otherwise, |given| given.map(|given| given.0))
}
