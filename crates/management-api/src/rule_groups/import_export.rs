//! Rule groups as YAML or JSON documents: export, and import as a new group or as a group's draft.

mod body;
mod export;
mod openapi;
mod revision;

use std::sync::Arc;

use api_common::{
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json},
};
use domain::id::{GroupVersionId, RuleGroupId, TeamId};
use management::{Management, rule_groups::files};
use poem::web::Data;
use poem_openapi::{OpenApi, impl_apirequest_for_payload, payload::Payload};

use super::{CreatedRuleGroup, draft::RuleGroupDraft};
use crate::{Tag, caller::Caller};

pub(crate) use body::RuleFileBody;
pub(crate) use export::YamlFile;
pub(super) use openapi::{declare, descriptions};
pub(crate) use revision::Revision;

impl_apirequest_for_payload!(RuleFileBody);

pub(crate) struct Files;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Files {
    /// Import a rule group
    ///
    /// Creates a group from a YAML or JSON document. Its first version is live at once. YAML must not have anchors or aliases,
    /// and may have up to 4 MiB.
    #[oai(
        path = "/rule-groups/import",
        method = "post",
        operation_id = "importRuleGroup"
    )]
    async fn import_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The team that will own the group. If omitted, it is the team of the token. Operators must name a team.
        team_id: Query<TeamId>,
        request: RuleFileBody,
    ) -> Result<Created<CreatedRuleGroup>, Refusal> {
        let read = move || request.read();
        let created = files::import_group(&management, &caller, team_id.0, read).await?;
        Ok(CreatedRuleGroup::answer(created))
    }

    /// Import a draft
    ///
    /// Replaces the group's draft with the rules of a YAML or JSON document. Rules that keep the IDs they were exported with stay
    /// the same rules. The group keeps its name.
    #[oai(
        path = "/rule-groups/:rule_group_id/import",
        method = "post",
        operation_id = "importDraft"
    )]
    async fn import_draft(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The revision of the draft that you read. If it is outdated, you get 409 (`draft_changed`). If omitted, the draft
        /// is replaced in any case.
        revision: Query<Revision>,
        request: RuleFileBody,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let (group, revision) = (rule_group_id.0, revision.0.map(|revision| revision.0));
        let read = move || request.read();
        let draft = files::import_draft(&management, &caller, group, revision, read).await?;
        Ok(Json(draft.into()))
    }

    /// Export a rule group
    ///
    /// Returns a version as a YAML document. If you import it, you get an equal group.
    #[oai(
        path = "/rule-groups/:rule_group_id/export",
        method = "get",
        operation_id = "exportRuleGroup"
    )]
    async fn export_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version. If omitted, it is the live version.
        version_id: Query<GroupVersionId>,
    ) -> Result<YamlFile, Refusal> {
        let (group, version) = (rule_group_id.0, version_id.0);
        let exported = files::export(&management, &caller, group, version).await?;
        Ok(YamlFile(exported))
    }
}
