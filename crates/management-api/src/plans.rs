//! Plans: list, create, read, change.

mod schemas;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::{Code, Refusal},
    query_parameters::Query,
    response::{Created, Json},
};
use domain::{id::PlanId, scope::Scope};
use management::plans;
use poem_openapi::OpenApi;
use serde_json::json;

use self::schemas::{NewPlan, Plan, PlanChange};
use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
    openapi::{Operation, example_values},
};

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
        let plans = plans::list(&caller.management, &caller, part.page()).await?;
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
        let plan = plans::create(&caller.management, &caller, terms).await?;
        Ok(Created {
            location: format!("{PREFIX}/plans/{}", plan.id),
            value: plan.into(),
        })
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
        let plan = plans::get(&caller.management, &caller, plan_id.0).await?;
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
        let plan = plans::update(&caller.management, &caller, plan_id.0, edit).await?;
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
