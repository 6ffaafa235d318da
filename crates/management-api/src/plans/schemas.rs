//! A plan in requests and responses.

mod change;
mod new;

use api_common::field::{Field, Time};
use domain::{
    name::Name,
    plan::{EndpointsPerSite, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute},
};
use poem_openapi::Object;
use serde::Serialize;
use store::plan::{self, Terms};
use uuid::Uuid;

pub(crate) use change::PlanChange;
pub(crate) use new::NewPlan;

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

fn or<T>(given: Option<Field<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |given| given.0)
}
