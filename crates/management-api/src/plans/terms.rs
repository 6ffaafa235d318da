//! A plan in requests and answers.

mod change;
mod new;

use api_common::member::{Member, Time};
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
    name: Member<Name>,
    /// The most submissions that a team can make in a billing period. `null` means no limit.
    #[oai(nullable)]
    submissions_per_period: Option<Member<PerPeriod>>,
    /// The most webhooks that a team's submissions can cause in a billing period. `null` means no
    /// limit. Each submission counts its `media.created` and its `media.moderated`, once for each
    /// endpoint that is subscribed to the event.
    #[oai(nullable)]
    deliveries_per_period: Option<Member<PerPeriod>>,
    /// The most submissions that each site key can make in a UTC minute. A site can allow less.
    submissions_per_minute: Member<PerMinute>,
    /// The most status queries that each site key can make in a UTC minute. A site can allow less.
    status_queries_per_minute: Member<PerMinute>,
    /// The most submissions that all site keys of a team together can make in a UTC minute. `null`
    /// means ten times `submissions_per_minute`.
    #[oai(nullable)]
    team_submissions_per_minute: Option<Member<TeamPerMinute>>,
    /// The most status queries that all site keys of a team together can make in a UTC minute.
    /// `null` means ten times `status_queries_per_minute`.
    #[oai(nullable)]
    team_status_queries_per_minute: Option<Member<TeamPerMinute>>,
    /// The most webhook endpoints that a site can have, including disabled endpoints.
    endpoints_per_site: Member<EndpointsPerSite>,
    /// The most sites that a team can have.
    sites_per_team: Member<PerTeam>,
    /// The most site keys that a team can have. Disabled keys do not count.
    site_keys_per_team: Member<PerTeam>,
    /// The most management tokens that a team can have. Disabled and expired tokens do not count.
    management_tokens_per_team: Member<PerTeam>,
    /// The most rule groups that a team can have.
    rule_groups_per_team: Member<PerTeam>,
    /// The most hash lists that a team can have.
    hash_lists_per_team: Member<ListsPerTeam>,
    /// When it was created.
    created_at: Member<Time>,
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
            name: Member(name),
            submissions_per_period: submissions_per_period.map(Member),
            deliveries_per_period: deliveries_per_period.map(Member),
            submissions_per_minute: Member(submissions_per_minute),
            status_queries_per_minute: Member(status_queries_per_minute),
            team_submissions_per_minute: team_submissions_per_minute.map(Member),
            team_status_queries_per_minute: team_status_queries_per_minute.map(Member),
            endpoints_per_site: Member(limits.endpoints_per_site),
            sites_per_team: Member(limits.sites_per_team),
            site_keys_per_team: Member(limits.site_keys_per_team),
            management_tokens_per_team: Member(limits.management_tokens_per_team),
            rule_groups_per_team: Member(limits.rule_groups_per_team),
            hash_lists_per_team: Member(limits.hash_lists_per_team),
            created_at: plan.created_at.into(),
        }
    }
}

fn or<T>(given: Option<Member<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |given| given.0)
}
