//! Policies of the review desk, and its settings for a site.

mod desk;
mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json, NoContent},
};
use domain::id::ReviewPolicyId;
use management::{Management, review_policies};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
use schemas::{NewReviewPolicy, ReviewPolicy, ReviewPolicyChange};

/// The operations, noun by noun.
pub(super) type Nouns = (ReviewPolicies, desk::Desk);

pub(super) fn nouns() -> Nouns {
    (ReviewPolicies, desk::Desk)
}

pub(crate) struct ReviewPolicies;

#[OpenApi(tag = "Tag::Reviews")]
impl ReviewPolicies {
    /// List policies
    ///
    /// Oldest first.
    #[oai(path = "/policies", method = "get", operation_id = "listPolicies")]
    async fn list_policies(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<ReviewPolicy>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let policies = review_policies::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(policies, |policy| policy.id.as_uuid())))
    }

    /// Create a policy
    ///
    /// A policy is what moderators reject items for. A team has at most 100.
    #[oai(path = "/policies", method = "post", operation_id = "createPolicy")]
    async fn create_policy(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewReviewPolicy>,
    ) -> Result<Created<ReviewPolicy>, Refusal> {
        let (team, settings) = request.value.into_parts();
        let policy = review_policies::create(&management, &caller, team, &settings).await?;
        Ok(Created {
            location: format!("{PREFIX}/policies/{}", policy.id),
            value: policy.into(),
        })
    }

    /// Read a policy
    #[oai(
        path = "/policies/:policy_id",
        method = "get",
        operation_id = "getPolicy"
    )]
    async fn get_policy(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The policy.
        policy_id: Path<ReviewPolicyId>,
    ) -> Result<Json<ReviewPolicy>, Refusal> {
        let policy = review_policies::get(&management, &caller, policy_id.0).await?;
        Ok(Json(policy.into()))
    }

    /// Change a policy
    ///
    /// The severity counts for items that come to the desk afterwards.
    #[oai(
        path = "/policies/:policy_id",
        method = "patch",
        operation_id = "updatePolicy"
    )]
    async fn update_policy(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The policy.
        policy_id: Path<ReviewPolicyId>,
        request: JsonBody<ReviewPolicyChange>,
    ) -> Result<Json<ReviewPolicy>, Refusal> {
        let change = request.value;
        let edit = |settings| change.apply(settings);
        let policy = review_policies::update(&management, &caller, policy_id.0, edit).await?;
        Ok(Json(policy.into()))
    }

    /// Delete a policy
    ///
    /// Its code and its key are free again. What was decided by it still names it.
    #[oai(
        path = "/policies/:policy_id",
        method = "delete",
        operation_id = "deletePolicy"
    )]
    async fn delete_policy(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The policy.
        policy_id: Path<ReviewPolicyId>,
    ) -> Result<NoContent, Refusal> {
        review_policies::delete(&management, &caller, policy_id.0).await?;
        Ok(NoContent)
    }
}
