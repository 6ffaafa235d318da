//! Which rule groups judge a site's submissions together: list, attach, detach.

use api_common::{Json, NoContent, Path, Refusal};
use domain::{
    id::{RuleGroupId, SiteId},
    scope::Scope,
};
use management::rule_groups::attachments;
use poem_openapi::OpenApi;
use serde_json::Value;

use super::{RuleGroup, group_example};
use crate::{Caller, List, Operation, Tag, example_values};

#[derive(Default)]
pub(crate) struct Attachments;

#[OpenApi(tag = "Tag::Sites")]
impl Attachments {
    /// List the rule groups of a site
    ///
    /// Returns the groups that together judge submissions that name no group, in the order in which they judge. If there are
    /// none, the site's default group judges. All groups are in one page.
    #[oai(
        path = "/sites/:site_id/rule-groups",
        method = "get",
        operation_id = "listSiteRuleGroups"
    )]
    async fn list_site_rule_groups(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Json<List<RuleGroup>>, Refusal> {
        let groups = attachments::list(&caller, site_id.0).await?;
        Ok(Json(List::whole(groups)))
    }

    /// Attach a rule group to a site
    ///
    /// From the answer on, the group judges what is submitted there, together with the other attached groups. A site has at
    /// most 50 groups.
    #[oai(
        path = "/sites/:site_id/rule-groups/:rule_group_id",
        method = "put",
        operation_id = "attachRuleGroup"
    )]
    async fn attach_rule_group(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The rule group. It must belong to the site's team.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<NoContent, Refusal> {
        attachments::attach(&caller, site_id.0, rule_group_id.0).await?;
        Ok(NoContent)
    }

    /// Detach a rule group from a site
    ///
    /// The group still judges what was submitted before.
    #[oai(
        path = "/sites/:site_id/rule-groups/:rule_group_id",
        method = "delete",
        operation_id = "detachRuleGroup"
    )]
    async fn detach_rule_group(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<NoContent, Refusal> {
        attachments::detach(&caller, site_id.0, rule_group_id.0).await?;
        Ok(NoContent)
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let mut all = example_values::list(&group_example());
    all["next_cursor"] = Value::Null;
    vec![
        Operation::new("listSiteRuleGroups", Scope::SitesRead).answer(all),
        Operation::new("attachRuleGroup", Scope::SitesWrite),
        Operation::new("detachRuleGroup", Scope::SitesWrite),
    ]
}
