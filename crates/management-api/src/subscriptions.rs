//! A team's subscription: read, put.

use api_common::{Code, Field, Json, JsonBody, Path, Refusal, Schema, Time};
use domain::{
    id::{PlanId, TeamId},
    plan::SubscriptionState,
    scope::Scope,
};
use management::subscriptions;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::subscription::{self, Wanted};
use uuid::Uuid;

use super::{Caller, Operation, Tag, example_values};

/// The plan of a team, and whether the subscription is active. Every team has a subscription.
#[derive(Serialize, Schema)]
pub(super) struct Subscription {
    /// The ID of the team.
    team_id: Uuid,
    /// The plan of the team.
    plan_id: Uuid,
    /// `active`: submissions are accepted. `past_due`: submissions are accepted for seven more
    /// days. `cancelled`: submissions are refused.
    state: Field<SubscriptionState>,
    /// When the subscription begins. Billing periods are UTC months that begin at this day and
    /// time: from 31 January, the next ones begin on 28 or 29 February, on 31 March and so on.
    started_at: Field<Time>,
    /// Since when the subscription is past due. `null` if it is not.
    #[schema(nullable)]
    past_due_since: Option<Field<Time>>,
}

impl From<subscription::Subscription> for Subscription {
    fn from(subscription: subscription::Subscription) -> Self {
        Self {
            team_id: subscription.team.as_uuid(),
            plan_id: subscription.plan.as_uuid(),
            state: Field(subscription.state),
            started_at: subscription.started_at.into(),
            past_due_since: subscription.past_due_since.map(Field::from),
        }
    }
}

/// The new state of a subscription.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewSubscription {
    /// The plan that the team subscribes to.
    plan_id: Field<PlanId>,
    /// The state of the subscription: `active`, `past_due` or `cancelled`.
    state: Field<SubscriptionState>,
    /// When the subscription and its billing periods begin. If omitted, it stays as it is. A new
    /// time ends the current period at once and begins new periods, in which nothing is used yet.
    #[schema(nullable)]
    started_at: Option<Field<Time>>,
}

#[derive(Default)]
pub(crate) struct Subscriptions;

#[OpenApi(tag = "Tag::Subscriptions")]
impl Subscriptions {
    /// Read a team's subscription
    #[oai(
        path = "/teams/:team_id/subscription",
        method = "get",
        operation_id = "getSubscription"
    )]
    async fn get_subscription(
        &self,
        caller: Caller,
        /// The ID of the team.
        team_id: Path<TeamId>,
    ) -> Result<Json<Subscription>, Refusal> {
        let subscription = subscriptions::get(&caller, team_id.0).await?;
        Ok(Json(subscription.into()))
    }

    /// Change a team's subscription
    ///
    /// The change takes effect at once. Only operators can change subscriptions.
    #[oai(
        path = "/teams/:team_id/subscription",
        method = "put",
        operation_id = "putSubscription"
    )]
    async fn put_subscription(
        &self,
        caller: Caller,
        /// The ID of the team.
        team_id: Path<TeamId>,
        request: JsonBody<NewSubscription>,
    ) -> Result<Json<Subscription>, Refusal> {
        let wanted = Wanted {
            plan: request.value.plan_id.0,
            state: request.value.state.0,
            started_at: request.value.started_at.map(|time| time.0.0),
        };
        let subscription = subscriptions::replace(&caller, team_id.0, wanted).await?;
        Ok(Json(subscription.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let subscription = json!({
        "team_id": example_values::TEAM,
        "plan_id": example_values::PLAN,
        "state": "active",
        "started_at": example_values::CREATED_AT,
        "past_due_since": null,
    });
    vec![
        Operation::new("getSubscription", Scope::SubscriptionsRead).answer(subscription.clone()),
        Operation::new("putSubscription", Scope::SubscriptionsWrite)
            .problems(&[Code::OperatorsOnly])
            .request(json!({ "plan_id": example_values::PLAN, "state": "active" }))
            .answer(subscription),
    ]
}
