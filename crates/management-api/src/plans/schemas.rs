//! A plan in requests and responses.

use api_common::field::{Field, Time, given, or, or_null};
use domain::{
    name::Name,
    plan::{EndpointsPerSite, Limits, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute},
};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::plan::{self, Terms};
use uuid::Uuid;

/// How much the teams that subscribe to it can use.
#[derive(Serialize, Object)]
pub(crate) struct Plan {
    /// The ID of the plan.
    id: Uuid,
    /// The name of the plan. It is unique.
    name: Field<Name>,
    /// The most submissions that a team can make in a billing period. `null` means no limit.
    #[oai(nullable)]
    submissions_per_period: Option<Field<PerPeriod>>,
    /// The most webhooks that a team's submissions can cause in a billing period. `null` means no
    /// limit. Each submission counts its `media.created` and its `media.moderated`, once for each
    /// endpoint that is subscribed to the event.
    #[oai(nullable)]
    deliveries_per_period: Option<Field<PerPeriod>>,
    /// The most submissions that each site key can make in a UTC minute. A site can allow less.
    submissions_per_minute: Field<PerMinute>,
    /// The most status queries that each site key can make in a UTC minute. A site can allow less.
    status_queries_per_minute: Field<PerMinute>,
    /// The most submissions that all site keys of a team together can make in a UTC minute. `null`
    /// means ten times `submissions_per_minute`.
    #[oai(nullable)]
    team_submissions_per_minute: Option<Field<TeamPerMinute>>,
    /// The most status queries that all site keys of a team together can make in a UTC minute.
    /// `null` means ten times `status_queries_per_minute`.
    #[oai(nullable)]
    team_status_queries_per_minute: Option<Field<TeamPerMinute>>,
    /// The most webhook endpoints that a site can have, including disabled endpoints.
    endpoints_per_site: Field<EndpointsPerSite>,
    /// The most sites that a team can have.
    sites_per_team: Field<PerTeam>,
    /// The most site keys that a team can have. Disabled keys do not count.
    site_keys_per_team: Field<PerTeam>,
    /// The most management tokens that a team can have. Disabled and expired tokens do not count.
    management_tokens_per_team: Field<PerTeam>,
    /// The most rule groups that a team can have.
    rule_groups_per_team: Field<PerTeam>,
    /// The most hash lists that a team can have.
    hash_lists_per_team: Field<ListsPerTeam>,
    /// When it was created.
    created_at: Field<Time>,
}

impl From<plan::Plan> for Plan {
    fn from(plan: plan::Plan) -> Self {
        let Terms {
            name,
            submissions_per_period,
            deliveries_per_period,
            submissions_per_minute,
            status_queries_per_minute,
            team_submissions_per_minute,
            team_status_queries_per_minute,
            limits,
        } = plan.terms;
        Self {
            id: plan.id.as_uuid(),
            name: Field(name),
            submissions_per_period: submissions_per_period.map(Field),
            deliveries_per_period: deliveries_per_period.map(Field),
            submissions_per_minute: Field(submissions_per_minute),
            status_queries_per_minute: Field(status_queries_per_minute),
            team_submissions_per_minute: team_submissions_per_minute.map(Field),
            team_status_queries_per_minute: team_status_queries_per_minute.map(Field),
            endpoints_per_site: Field(limits.endpoints_per_site),
            sites_per_team: Field(limits.sites_per_team),
            site_keys_per_team: Field(limits.site_keys_per_team),
            management_tokens_per_team: Field(limits.management_tokens_per_team),
            rule_groups_per_team: Field(limits.rule_groups_per_team),
            hash_lists_per_team: Field(limits.hash_lists_per_team),
            created_at: plan.created_at.into(),
        }
    }
}

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
