//! Rule groups: list, create, read, rename, delete. Everything else about them is in a module of its own.

mod attachments;
mod backtests;
mod diff;
mod draft;
mod examples;
mod import_export;
mod openapi;
mod rule_schema;
mod rules;
mod schemas;
mod shadow;
mod trial;
mod versions;
mod warnings;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json, NoContent},
};
use domain::id::RuleGroupId;
use management::{Management, rule_groups};
use poem::web::Data;
use poem_openapi::OpenApi;
use serde_json::Value;

use super::{
    Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};
use examples::{created_example, group_example};

pub(super) use openapi::descriptions;
pub(super) use schemas::{CreatedRuleGroup, NewRuleGroup, RuleGroup, RuleGroupChange};

/// The operations, noun by noun.
pub(super) type Nouns = (
    RuleGroups,
    draft::Drafts,
    versions::Versions,
    diff::Diffs,
    shadow::Shadows,
    trial::Trials,
    backtests::Backtests,
    import_export::Files,
    attachments::Attachments,
);

pub(super) fn nouns() -> Nouns {
    (
        RuleGroups,
        draft::Drafts,
        versions::Versions,
        diff::Diffs,
        shadow::Shadows,
        trial::Trials,
        backtests::Backtests,
        import_export::Files,
        attachments::Attachments,
    )
}

/// Adds the schemas of rules and of rule files to the document.
pub(super) fn document(document: &mut Value) {
    rule_schema::declare(document);
    import_export::declare(document);
}

pub(crate) struct RuleGroups;

#[OpenApi(tag = "Tag::RuleGroups")]
impl RuleGroups {
    /// List rule groups
    ///
    /// Returns the oldest groups first. A team's token sees only the groups of its team.
    #[oai(path = "/rule-groups", method = "get", operation_id = "listRuleGroups")]
    async fn list_rule_groups(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<RuleGroup>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let groups = rule_groups::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(groups, |group| group.id.as_uuid())))
    }

    /// Create a rule group
    ///
    /// The first version has these rules and is live at once. The group judges submissions that name it by its ID. Once you
    /// attach it to a site, it also judges what is submitted there.
    #[oai(
        path = "/rule-groups",
        method = "post",
        operation_id = "createRuleGroup"
    )]
    async fn create_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewRuleGroup>,
    ) -> Result<Created<CreatedRuleGroup>, Refusal> {
        let new = request.value.into();
        let created = rule_groups::create(&management, &caller, new).await?;
        Ok(CreatedRuleGroup::answer(created))
    }

    /// Read a rule group
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "get",
        operation_id = "getRuleGroup"
    )]
    async fn get_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let group = rule_groups::get(&management, &caller, rule_group_id.0).await?;
        Ok(Json(group.into()))
    }

    /// Rename a rule group
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "patch",
        operation_id = "updateRuleGroup"
    )]
    async fn update_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<RuleGroupChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let name = request.value.name.map(|name| name.0);
        let group = rule_groups::rename(&management, &caller, rule_group_id.0, name).await?;
        Ok(Json(group.into()))
    }

    /// Delete a rule group
    ///
    /// After that, nothing can name the group, and its name is free. Verdicts still name its versions. You cannot delete a
    /// group that judges for a site, either attached or as the default.
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "delete",
        operation_id = "deleteRuleGroup"
    )]
    async fn delete_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<NoContent, Refusal> {
        rule_groups::delete(&management, &caller, rule_group_id.0).await?;
        Ok(NoContent)
    }
}
