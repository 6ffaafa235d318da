//! Plans: list, create, read, change.

use std::sync::Arc;

use domain::{
    audit::Action,
    id::PlanId,
    name::Name,
    plan::{PerMinute, PerPeriod},
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::plan::{self, Terms};
use uuid::Uuid;

use super::{
    Management, PREFIX, Tag,
    document::{Operation, example},
    list::{Cursor, Limit, List, Part},
    session::{Caller, Change, created, difference},
};
use crate::{
    answer::{Created, Json},
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// How much the teams that subscribe to it may use.
#[derive(Serialize, Object)]
pub(super) struct Plan {
    /// The plan.
    id: Uuid,
    /// What it is called; unique.
    name: Member<Name>,
    /// Submissions that a team may make in a billing period; null is no limit.
    #[oai(nullable)]
    submissions_per_period: Option<Member<PerPeriod>>,
    /// Submissions that each site key may make in a UTC minute, unless its site allows less.
    submissions_per_minute: Member<PerMinute>,
    /// Status queries that each site key may make in a UTC minute, unless its site allows less.
    status_queries_per_minute: Member<PerMinute>,
    /// When it was created.
    created_at: Member<Time>,
}

impl From<plan::Plan> for Plan {
    fn from(plan: plan::Plan) -> Self {
        Self {
            id: plan.id.as_uuid(),
            name: Member(plan.terms.name),
            submissions_per_period: plan.terms.submissions_per_period.map(Member),
            submissions_per_minute: Member(plan.terms.submissions_per_minute),
            status_queries_per_minute: Member(plan.terms.status_queries_per_minute),
            created_at: plan.created_at.into(),
        }
    }
}

/// A plan to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct NewPlan {
    /// What it is to be called; no other plan may be called so.
    name: Member<Name>,
    /// Submissions that a team may make in a billing period; null is no limit.
    #[oai(nullable)]
    submissions_per_period: Option<Member<PerPeriod>>,
    /// Submissions that each site key may make in a UTC minute; 1,000 if nothing is said.
    submissions_per_minute: Option<Member<PerMinute>>,
    /// Status queries that each site key may make in a UTC minute; 2,000 if nothing is said.
    status_queries_per_minute: Option<Member<PerMinute>>,
}

/// What is to be otherwise of a plan.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanChange {
    /// What it is to be called.
    #[serde(default, deserialize_with = "given")]
    name: Option<Member<Name>>,
    /// Submissions that a team may make in a billing period; null is no limit.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    submissions_per_period: Option<Option<Member<PerPeriod>>>,
    /// Submissions that each site key may make in a UTC minute.
    #[serde(default, deserialize_with = "given")]
    submissions_per_minute: Option<Member<PerMinute>>,
    /// Status queries that each site key may make in a UTC minute.
    #[serde(default, deserialize_with = "given")]
    status_queries_per_minute: Option<Member<PerMinute>>,
}

impl PlanChange {
    fn applied_to(self, terms: Terms) -> Terms {
        Terms {
            name: self.name.map_or(terms.name, |name| name.0),
            submissions_per_period: self
                .submissions_per_period
                .map_or(terms.submissions_per_period, |limit| {
                    limit.map(|limit| limit.0)
                }),
            submissions_per_minute: self
                .submissions_per_minute
                .map_or(terms.submissions_per_minute, |limit| limit.0),
            status_queries_per_minute: self
                .status_queries_per_minute
                .map_or(terms.status_queries_per_minute, |limit| limit.0),
        }
    }
}

pub(crate) struct Plans;

#[OpenApi(tag = "Tag::Plans")]
impl Plans {
    /// List plans
    ///
    /// The oldest first. A team's token sees the plan that its team subscribes to.
    #[oai(path = "/plans", method = "get", operation_id = "listPlans")]
    async fn list_plans(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: Query<Cursor>,
    ) -> Result<Json<List<Plan>>, Refusal> {
        let mut session = management.read(&caller, Scope::PlansRead).await?;
        let part = Part::new(&limit, &cursor);
        let of = session.only_team();
        let plans = plan::list(session.conn(), of, part.page()).await?;
        Ok(Json(part.list(plans, |plan| plan.id.as_uuid())))
    }

    /// Create a plan
    ///
    /// Only operators may do this.
    #[oai(path = "/plans", method = "post", operation_id = "createPlan")]
    async fn create_plan(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewPlan>,
    ) -> Result<Created<Plan>, Refusal> {
        let mut session = management.change(&caller, Scope::PlansWrite).await?;
        session.require_operator()?;
        let new = request.value;
        let usual = Terms::named(new.name.0);
        let terms = Terms {
            submissions_per_period: new.submissions_per_period.map(|limit| limit.0),
            submissions_per_minute: new
                .submissions_per_minute
                .map_or(usual.submissions_per_minute, |limit| limit.0),
            status_queries_per_minute: new
                .status_queries_per_minute
                .map_or(usual.status_queries_per_minute, |limit| limit.0),
            ..usual
        };
        let plan = Plan::from(plan::create(session.conn(), terms).await?);
        session
            .commit(Change {
                action: Action::PlanCreate,
                team: None,
                target: plan.id,
                details: created(&plan),
            })
            .await?;
        Ok(Created {
            location: format!("{PREFIX}/plans/{}", plan.id),
            value: plan,
        })
    }

    /// Read a plan
    ///
    /// For a team's token there is no plan but its team's.
    #[oai(path = "/plans/:plan_id", method = "get", operation_id = "getPlan")]
    async fn get_plan(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The plan.
        plan_id: Path<PlanId>,
    ) -> Result<Json<Plan>, Refusal> {
        let mut session = management.read(&caller, Scope::PlansRead).await?;
        let of = session.only_team();
        let plan = plan::find(session.conn(), of, plan_id.0).await?;
        Ok(Json(plan.ok_or_else(unknown)?.into()))
    }

    /// Change a plan
    ///
    /// The change holds at once, for all teams that subscribe to the plan. Only operators may do this.
    #[oai(
        path = "/plans/:plan_id",
        method = "patch",
        operation_id = "updatePlan"
    )]
    async fn update_plan(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The plan.
        plan_id: Path<PlanId>,
        request: JsonBody<PlanChange>,
    ) -> Result<Json<Plan>, Refusal> {
        let mut session = management.change(&caller, Scope::PlansWrite).await?;
        session.require_operator()?;
        let plan = plan::lock(session.conn(), plan_id.0).await?;
        let mut plan = plan.ok_or_else(unknown)?;
        let before = Plan::from(plan.clone());
        plan.terms = request.value.applied_to(plan.terms);
        let after = Plan::from(plan.clone());
        if let Some(details) = difference(&before, &after) {
            plan::change(session.conn(), plan.id, &plan.terms).await?;
            session
                .commit(Change {
                    action: Action::PlanUpdate,
                    team: None,
                    target: after.id,
                    details,
                })
                .await?;
        }
        Ok(Json(after))
    }
}

fn unknown() -> Refusal {
    Refusal::not_found("plan")
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let plan = json!({
        "id": example::PLAN,
        "name": "Small",
        "submissions_per_period": 100_000,
        "submissions_per_minute": 1_000,
        "status_queries_per_minute": 2_000,
        "created_at": example::CREATED_AT,
    });
    vec![
        Operation {
            answer: Some(example::list(&plan)),
            ..Operation::new("listPlans", Scope::PlansRead)
        },
        Operation {
            problems: &[Code::OperatorsOnly, Code::NameTaken],
            request: Some(json!({ "name": "Small", "submissions_per_period": 100_000 })),
            answer: Some(plan.clone()),
            ..Operation::new("createPlan", Scope::PlansWrite)
        },
        Operation {
            answer: Some(plan.clone()),
            ..Operation::new("getPlan", Scope::PlansRead)
        },
        Operation {
            problems: &[Code::OperatorsOnly, Code::NameTaken],
            request: Some(json!({ "submissions_per_period": 100_000 })),
            answer: Some(plan),
            ..Operation::new("updatePlan", Scope::PlansWrite)
        },
    ]
}
