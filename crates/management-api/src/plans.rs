//! Plans: list, create, read, change.

use api_common::{
    Code, Created, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given, or, or_null,
};
use domain::{
    id::PlanId,
    name::Name,
    plan::{
        EndpointsPerSite, Limits, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute, Terms,
    },
    scope::Scope,
};
use management::plans;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::plan;
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Plans;

#[OpenApi(tag = "Tag::Plans")]
impl Plans {
    /// List plans
    ///
    /// Returns the oldest plans first. A team's token sees only the plan of its team.
    #[oai(path = "/plans", method = "get", operation_id = "listPlans")]
    async fn list_plans(
        &self,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Plan>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let plans = plans::list(&caller, part.page()).await?;
        Ok(Json(part.list(plans, |plan| plan.id.as_uuid())))
    }

    /// Create a plan
    ///
    /// Only operators can create plans.
    #[oai(path = "/plans", method = "post", operation_id = "createPlan")]
    async fn create_plan(
        &self,
        caller: Caller,
        request: JsonBody<NewPlan>,
    ) -> Result<Created<Plan>, Refusal> {
        let terms = request.value.terms();
        let plan = plans::create(&caller, terms).await?;
        Ok(Created::at(format!("{PREFIX}/plans/{}", plan.id), plan))
    }

    /// Read a plan
    ///
    /// A team's token can read only the plan of its team.
    #[oai(path = "/plans/:plan_id", method = "get", operation_id = "getPlan")]
    async fn get_plan(
        &self,
        caller: Caller,
        /// The ID of the plan.
        plan_id: Path<PlanId>,
    ) -> Result<Json<Plan>, Refusal> {
        let plan = plans::get(&caller, plan_id.0).await?;
        Ok(Json(plan.into()))
    }

    /// Change a plan
    ///
    /// The change takes effect at once, for all teams that subscribe to the plan. If you lower a
    /// limit, teams keep what they have beyond it, but cannot create more. Only operators can
    /// change plans.
    #[oai(
        path = "/plans/:plan_id",
        method = "patch",
        operation_id = "updatePlan"
    )]
    async fn update_plan(
        &self,
        caller: Caller,
        /// The ID of the plan.
        plan_id: Path<PlanId>,
        request: JsonBody<PlanChange>,
    ) -> Result<Json<Plan>, Refusal> {
        let edit = |terms| request.value.applied_to(terms);
        let plan = plans::update(&caller, plan_id.0, edit).await?;
        Ok(Json(plan.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let plan = json!({
        "id": example_values::PLAN,
        "name": "Small",
        "submissions_per_period": 100_000,
        "deliveries_per_period": 400_000,
        "submissions_per_minute": 1_000,
        "status_queries_per_minute": 2_000,
        "team_submissions_per_minute": null,
        "team_status_queries_per_minute": null,
        "endpoints_per_site": 10,
        "sites_per_team": 100,
        "site_keys_per_team": 200,
        "management_tokens_per_team": 100,
        "rule_groups_per_team": 200,
        "hash_lists_per_team": 100,
        "created_at": example_values::CREATED_AT,
    });
    vec![
        Operation::new("listPlans", Scope::PlansRead)
            .answer(example_values::list(&plan)),
        Operation::new("createPlan", Scope::PlansWrite)
            .problems(&[Code::OperatorsOnly, Code::NameTaken])
            .request(
                json!({ "name": "Small", "submissions_per_period": 100_000, "deliveries_per_period": 400_000 }),
            )
            .answer(plan.clone()),
        Operation::new("getPlan", Scope::PlansRead)
            .answer(plan.clone()),
        Operation::new("updatePlan", Scope::PlansWrite)
            .problems(&[Code::OperatorsOnly, Code::NameTaken])
            .request(json!({ "submissions_per_period": 100_000 }))
            .answer(plan),
    ]
}

/// How much the teams that subscribe to it can use.
#[derive(Serialize, Schema)]
pub(crate) struct Plan {
    /// The ID of the plan.
    id: Uuid,
    /// The name of the plan. It is unique.
    name: Field<Name>,
    /// The most submissions that a team can make in a billing period. `null` means no limit.
    #[schema(nullable)]
    submissions_per_period: Option<Field<PerPeriod>>,
    /// The most webhooks that a team's submissions can cause in a billing period. `null` means no
    /// limit. Each submission counts its `media.created` and its `media.moderated`, once for each
    /// endpoint that is subscribed to the event.
    #[schema(nullable)]
    deliveries_per_period: Option<Field<PerPeriod>>,
    /// The most submissions that each site key can make in a UTC minute. A site can allow less.
    submissions_per_minute: Field<PerMinute>,
    /// The most status queries that each site key can make in a UTC minute. A site can allow less.
    status_queries_per_minute: Field<PerMinute>,
    /// The most submissions that all site keys of a team together can make in a UTC minute. `null`
    /// means ten times `submissions_per_minute`.
    #[schema(nullable)]
    team_submissions_per_minute: Option<Field<TeamPerMinute>>,
    /// The most status queries that all site keys of a team together can make in a UTC minute.
    /// `null` means ten times `status_queries_per_minute`.
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct PlanChange {
    /// The name of the plan. No other plan can have the same name.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
    /// The most submissions that a team can make in a billing period. `null` means no limit.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    submissions_per_period: Option<Option<Field<PerPeriod>>>,
    /// The most webhooks that a team's submissions can cause in a billing period. `null` means no
    /// limit.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
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
    #[schema(nullable)]
    team_submissions_per_minute: Option<Option<Field<TeamPerMinute>>>,
    /// The most status queries that all site keys of a team together can make in a UTC minute.
    /// `null` means ten times `status_queries_per_minute`.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPlan {
    /// The name of the plan. No other plan can have the same name.
    name: Field<Name>,
    /// The most submissions that a team can make in a billing period. `null` means no limit.
    #[schema(nullable)]
    submissions_per_period: Option<Field<PerPeriod>>,
    /// The most webhooks that a team's submissions can cause in a billing period. `null` means no
    /// limit.
    #[schema(nullable)]
    deliveries_per_period: Option<Field<PerPeriod>>,
    /// The most submissions that each site key can make in a UTC minute. The default is 1,000.
    submissions_per_minute: Option<Field<PerMinute>>,
    /// The most status queries that each site key can make in a UTC minute. The default is 2,000.
    status_queries_per_minute: Option<Field<PerMinute>>,
    /// The most submissions that all site keys of a team together can make in a UTC minute. `null`
    /// means ten times `submissions_per_minute`.
    #[schema(nullable)]
    team_submissions_per_minute: Option<Field<TeamPerMinute>>,
    /// The most status queries that all site keys of a team together can make in a UTC minute.
    /// `null` means ten times `status_queries_per_minute`.
    #[schema(nullable)]
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
