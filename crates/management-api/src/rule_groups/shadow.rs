//! Shadows: have a version judge beside the live one without effect, and see what it said.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody, path_parameters::Path, problem::Refusal, query_parameters::Query,
    response::Json,
};
use domain::id::{GroupVersionId, RuleGroupId};
use management::{Management, rule_groups::shadow};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::RuleGroup;
use crate::{
    Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(crate) use schemas::{ShadowDifference, ShadowReport, ShadowVersionChange};

pub(crate) struct Shadows;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Shadows {
    /// Have a version judge in the shadow
    ///
    /// From now on, it judges everything that the live version judges, without effect. All other groups stay the same. A group
    /// has one shadow at most: an earlier one ends, and what it said is kept.
    #[oai(
        path = "/rule-groups/:rule_group_id/shadow-version",
        method = "put",
        operation_id = "setShadowVersion"
    )]
    async fn set_shadow_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<ShadowVersionChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let (group, wanted) = (rule_group_id.0, request.value.version_id.0);
        let group = shadow::set(&management, &caller, group, wanted).await?;
        Ok(Json(group.into()))
    }

    /// End the shadow
    #[oai(
        path = "/rule-groups/:rule_group_id/shadow-version",
        method = "delete",
        operation_id = "endShadowVersion"
    )]
    async fn end_shadow_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let group = shadow::end(&management, &caller, rule_group_id.0).await?;
        Ok(Json(group.into()))
    }

    /// Read what a version said in the shadow
    ///
    /// Covers everything that the version ever said in the shadow. Items count once their verdict is stored.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id/shadow-report",
        method = "get",
        operation_id = "getShadowReport"
    )]
    async fn get_shadow_report(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
    ) -> Result<Json<ShadowReport>, Refusal> {
        let (group, version) = (rule_group_id.0, version_id.0);
        let report = shadow::report(&management, &caller, group, version).await?;
        Ok(Json(report.into()))
    }

    /// List the items about which a version differed in the shadow
    ///
    /// Returns the newest items first. They are kept for 30 days.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id/shadow-differences",
        method = "get",
        operation_id = "listShadowDifferences"
    )]
    async fn list_shadow_differences(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<ShadowDifference>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let (group, version) = (rule_group_id.0, version_id.0);
        let differences =
            shadow::differences(&management, &caller, group, version, part.page()).await?;
        Ok(Json(part.list(differences, |item| item.media.as_uuid())))
    }
}
