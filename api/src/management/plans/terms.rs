//! A plan in requests and answers.

use domain::{
    name::Name,
    plan::{EndpointsPerSite, Limits, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute},
};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::plan::{self, Terms};
use uuid::Uuid;

use crate::member::{Member, Time, given};

/// How much the teams that subscribe to it may use.
#[derive(Serialize, Object)]
pub(in crate::management) struct Plan {
    /// The plan.
    id: Uuid,
    /// What it is called; unique.
    name: Member<Name>,
    /// Submissions that a team may make in a billing period; null is no limit.
    #[oai(nullable)]
    submissions_per_period: Option<Member<PerPeriod>>,
    /// Webhooks that a team's submissions may cause in a billing period; null is no limit. A submission counts its
    /// `media.created` and its `media.moderated`, once for each endpoint that wants them.
    #[oai(nullable)]
    deliveries_per_period: Option<Member<PerPeriod>>,
    /// Submissions that each site key may make in a UTC minute, unless its site allows less.
    submissions_per_minute: Member<PerMinute>,
    /// Status queries that each site key may make in a UTC minute, unless its site allows less.
    status_queries_per_minute: Member<PerMinute>,
    /// Submissions that all site keys of a team together may make in a UTC minute; null is ten times
    /// `submissions_per_minute`.
    #[oai(nullable)]
    team_submissions_per_minute: Option<Member<TeamPerMinute>>,
    /// Status queries that all site keys of a team together may make in a UTC minute; null is ten times
    /// `status_queries_per_minute`.
    #[oai(nullable)]
    team_status_queries_per_minute: Option<Member<TeamPerMinute>>,
    /// Webhook endpoints that a site may have, disabled ones included.
    endpoints_per_site: Member<EndpointsPerSite>,
    /// Sites that a team may have.
    sites_per_team: Member<PerTeam>,
    /// Site keys that a team may have; disabled ones do not count.
    site_keys_per_team: Member<PerTeam>,
    /// Management tokens that a team may have; disabled and expired ones do not count.
    management_tokens_per_team: Member<PerTeam>,
    /// Rule groups that a team may have.
    rule_groups_per_team: Member<PerTeam>,
    /// Hash lists that a team may have.
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

/// A plan to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in crate::management) struct NewPlan {
    /// What it is to be called; no other plan may be called so.
    name: Member<Name>,
    /// Submissions that a team may make in a billing period; null is no limit.
    #[oai(nullable)]
    submissions_per_period: Option<Member<PerPeriod>>,
    /// Webhooks that a team's submissions may cause in a billing period; null is no limit.
    #[oai(nullable)]
    deliveries_per_period: Option<Member<PerPeriod>>,
    /// Submissions that each site key may make in a UTC minute; 1,000 if nothing is said.
    submissions_per_minute: Option<Member<PerMinute>>,
    /// Status queries that each site key may make in a UTC minute; 2,000 if nothing is said.
    status_queries_per_minute: Option<Member<PerMinute>>,
    /// Submissions that all site keys of a team together may make in a UTC minute; null is ten times
    /// `submissions_per_minute`.
    #[oai(nullable)]
    team_submissions_per_minute: Option<Member<TeamPerMinute>>,
    /// Status queries that all site keys of a team together may make in a UTC minute; null is ten times
    /// `status_queries_per_minute`.
    #[oai(nullable)]
    team_status_queries_per_minute: Option<Member<TeamPerMinute>>,
    /// Webhook endpoints that a site may have; 10 if nothing is said.
    endpoints_per_site: Option<Member<EndpointsPerSite>>,
    /// Sites that a team may have; 100 if nothing is said.
    sites_per_team: Option<Member<PerTeam>>,
    /// Site keys that a team may have; 200 if nothing is said.
    site_keys_per_team: Option<Member<PerTeam>>,
    /// Management tokens that a team may have; 100 if nothing is said.
    management_tokens_per_team: Option<Member<PerTeam>>,
    /// Rule groups that a team may have; 200 if nothing is said.
    rule_groups_per_team: Option<Member<PerTeam>>,
    /// Hash lists that a team may have; 100 if nothing is said.
    hash_lists_per_team: Option<Member<ListsPerTeam>>,
}

impl NewPlan {
    /// What is not said is as usual.
    pub(super) fn terms(self) -> Terms {
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

/// Members to change. Those that are omitted keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(in crate::management) struct PlanChange {
    /// What it is to be called.
    #[serde(default, deserialize_with = "given")]
    name: Option<Member<Name>>,
    /// Submissions that a team may make in a billing period; null is no limit.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    submissions_per_period: Option<Option<Member<PerPeriod>>>,
    /// Webhooks that a team's submissions may cause in a billing period; null is no limit.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    deliveries_per_period: Option<Option<Member<PerPeriod>>>,
    /// Submissions that each site key may make in a UTC minute.
    #[serde(default, deserialize_with = "given")]
    submissions_per_minute: Option<Member<PerMinute>>,
    /// Status queries that each site key may make in a UTC minute.
    #[serde(default, deserialize_with = "given")]
    status_queries_per_minute: Option<Member<PerMinute>>,
    /// Submissions that all site keys of a team together may make in a UTC minute; null is ten times
    /// `submissions_per_minute`.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    team_submissions_per_minute: Option<Option<Member<TeamPerMinute>>>,
    /// Status queries that all site keys of a team together may make in a UTC minute; null is ten times
    /// `status_queries_per_minute`.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    team_status_queries_per_minute: Option<Option<Member<TeamPerMinute>>>,
    /// Webhook endpoints that a site may have. Sites that have more keep them.
    #[serde(default, deserialize_with = "given")]
    endpoints_per_site: Option<Member<EndpointsPerSite>>,
    /// Sites that a team may have. Teams that have more keep them, here and below.
    #[serde(default, deserialize_with = "given")]
    sites_per_team: Option<Member<PerTeam>>,
    /// Site keys that a team may have.
    #[serde(default, deserialize_with = "given")]
    site_keys_per_team: Option<Member<PerTeam>>,
    /// Management tokens that a team may have.
    #[serde(default, deserialize_with = "given")]
    management_tokens_per_team: Option<Member<PerTeam>>,
    /// Rule groups that a team may have.
    #[serde(default, deserialize_with = "given")]
    rule_groups_per_team: Option<Member<PerTeam>>,
    /// Hash lists that a team may have.
    #[serde(default, deserialize_with = "given")]
    hash_lists_per_team: Option<Member<ListsPerTeam>>,
}

impl PlanChange {
    pub(super) fn applied_to(self, terms: Terms) -> Terms {
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

fn or<T>(given: Option<Member<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |given| given.0)
}

#[expect(clippy::option_option, reason = "absent and null are two things")]
fn or_null<T>(given: Option<Option<Member<T>>>, otherwise: Option<T>) -> Option<T> {
    given.map_or(otherwise, |given| given.map(|given| given.0))
}
