//! Try rules on a sample.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{body::JsonBody, path_parameters::Path, problem::Refusal, response::Json};
use domain::id::RuleGroupId;
use management::{Management, rule_groups::trials};
use poem::web::Data;
use poem_openapi::OpenApi;

use crate::{Tag, caller::Caller};

pub(super) use openapi::descriptions;
pub(crate) use schemas::{NewTest, TestResult};

pub(crate) struct Trials;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Trials {
    /// Try rules on a sample
    ///
    /// Only this group judges the sample: its draft, one of its versions, or the rules of the request. Nothing of the sample is
    /// stored or logged. The answer tells which rules match, where, in which reading of the text, and at which thresholds.
    #[oai(
        path = "/rule-groups/:rule_group_id/test",
        method = "post",
        operation_id = "testRuleGroup"
    )]
    async fn test_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewTest>,
    ) -> Result<Json<TestResult>, Refusal> {
        let (group, new) = (rule_group_id.0, request.value.into());
        let trial = trials::run(&management, &caller, group, new).await?;
        Ok(Json(trial.try_into()?))
    }
}
