//! A rule group's versions: list, create, read, make one live, and see which were live when.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json},
};
use domain::id::{GroupVersionId, RuleGroupId};
use management::{Management, rule_groups::versions};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::RuleGroup;
use crate::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(crate) use schemas::{
    LiveVersionChange, NewRuleGroupVersion, RuleGroupPublication, RuleGroupVersion,
    RuleGroupVersionWithRules,
};

pub(crate) struct Versions;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Versions {
    /// List versions
    ///
    /// Returns the newest versions first.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions",
        method = "get",
        operation_id = "listVersions"
    )]
    async fn list_versions(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<RuleGroupVersion>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let group = rule_group_id.0;
        let versions = versions::list(&management, &caller, group, part.page()).await?;
        Ok(Json(part.list(versions, |version| version.id.as_uuid())))
    }

    /// Create a version from the draft
    ///
    /// The version is live at once, unless `live` is `false`: it judges what is submitted from the answer on. If somebody else
    /// changed the draft after the `revision` you send, you get 409 and nothing is created.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions",
        method = "post",
        operation_id = "createVersion"
    )]
    async fn create_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewRuleGroupVersion>,
    ) -> Result<Created<RuleGroupVersion>, Refusal> {
        let (group, new) = (rule_group_id.0, request.value.into());
        let version = versions::create(&management, &caller, group, new).await?;
        Ok(Created {
            location: format!("{PREFIX}/rule-groups/{group}/versions/{}", version.id),
            value: version.into(),
        })
    }

    /// Read a version
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id",
        method = "get",
        operation_id = "getVersion"
    )]
    async fn get_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
    ) -> Result<Json<RuleGroupVersionWithRules>, Refusal> {
        let (group, version) = (rule_group_id.0, version_id.0);
        let version = versions::get(&management, &caller, group, version).await?;
        Ok(Json(version.into()))
    }

    /// Make a version live
    ///
    /// Makes an earlier version live again, or a version that was created without being live. It judges what is submitted from
    /// the answer on. What was submitted before is judged by the version that was live then. An edited draft stays as it is.
    #[oai(
        path = "/rule-groups/:rule_group_id/live-version",
        method = "put",
        operation_id = "setLiveVersion"
    )]
    async fn set_live_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<LiveVersionChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let (group, wanted) = (rule_group_id.0, request.value.version_id.0);
        let group = versions::set_live(&management, &caller, group, wanted).await?;
        Ok(Json(group.into()))
    }

    /// List publications
    ///
    /// Returns which version was live from when, the latest first.
    #[oai(
        path = "/rule-groups/:rule_group_id/publications",
        method = "get",
        operation_id = "listPublications"
    )]
    async fn list_publications(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<RuleGroupPublication>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let group = rule_group_id.0;
        let publications = versions::publications(&management, &caller, group, part.page()).await?;
        Ok(Json(part.list(publications, |publication| publication.id)))
    }
}
