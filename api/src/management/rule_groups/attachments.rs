//! Which rule groups judge a site's submissions together: list, attach, detach.

use std::sync::Arc;

use ::management::sites::MOST_GROUPS;
use domain::{
    audit::Action,
    id::{RuleGroupId, SiteId},
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::OpenApi;
use serde_json::{Value, json};
use store::{
    rule_group,
    site::{self, settings::ManagedSite},
};

use super::{RuleGroup, group_example, unknown};
use crate::{
    answer::{Json, NoContent},
    management::{
        Management, Tag,
        document::{Operation, example},
        list::List,
        session::{Caller, Change, Session},
    },
    path::Path,
    problem::Refusal,
};

pub(crate) struct Attachments;

#[OpenApi(tag = "Tag::Sites")]
impl Attachments {
    /// List the rule groups of a site
    ///
    /// Those that judge together what is submitted there and names no group, in their order. Without any, the site's default
    /// group judges. All are in one part.
    #[oai(
        path = "/sites/:site_id/rule-groups",
        method = "get",
        operation_id = "listSiteRuleGroups"
    )]
    async fn list_site_rule_groups(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Json<List<RuleGroup>>, Refusal> {
        let mut session = management.read(&caller, Scope::SitesRead).await?;
        let of = session.reach();
        let site = site::settings::find(session.conn(), of, site_id.0).await?;
        let site = site.ok_or_else(unknown_site)?;
        let groups = rule_group::attached(session.conn(), site.id).await?;
        Ok(Json(List::whole(groups)))
    }

    /// Attach a rule group to a site
    ///
    /// It judges what is submitted there from the answer on, together with the others that are attached. A site has at most 50.
    #[oai(
        path = "/sites/:site_id/rule-groups/:rule_group_id",
        method = "put",
        operation_id = "attachRuleGroup"
    )]
    async fn attach_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The group; one of the site's team.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<NoContent, Refusal> {
        let mut session = management.change(&caller, Scope::SitesWrite).await?;
        let site = lock(&mut session, site_id.0).await?;
        let group = rule_group_id.0;
        // Held until the commit: nobody deletes it meanwhile.
        let own = site::settings::own_groups(session.conn(), site.team, &[group]).await?;
        if own.is_empty() {
            return Err(unknown());
        }
        if site.settings.rule_groups.contains(&group) {
            return Ok(NoContent);
        }
        if site.settings.rule_groups.len() >= MOST_GROUPS {
            let detail = format!("A site has at most {MOST_GROUPS} rule groups.");
            return Err(Refusal::invalid_request(detail));
        }
        rule_group::attach(session.conn(), site.id, group).await?;
        commit(session, &site).await
    }

    /// Detach a rule group from a site
    ///
    /// What was submitted before is still judged by it.
    #[oai(
        path = "/sites/:site_id/rule-groups/:rule_group_id",
        method = "delete",
        operation_id = "detachRuleGroup"
    )]
    async fn detach_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<NoContent, Refusal> {
        let mut session = management.change(&caller, Scope::SitesWrite).await?;
        let site = lock(&mut session, site_id.0).await?;
        let own = site::settings::own_groups(session.conn(), site.team, &[rule_group_id.0]).await?;
        let group = own.first().copied().ok_or_else(unknown)?;
        if !rule_group::detach(session.conn(), site.id, group).await? {
            return Ok(NoContent);
        }
        commit(session, &site).await
    }
}

/// A site that the caller may know of, and that nobody else changes meanwhile.
async fn lock(session: &mut Session, site: SiteId) -> Result<ManagedSite, Refusal> {
    let of = session.reach();
    let site = site::settings::lock(session.conn(), of, site).await?;
    site.ok_or_else(unknown_site)
}

/// Records which groups the site has instead of those that it had, and commits.
async fn commit(mut session: Session, before: &ManagedSite) -> Result<NoContent, Refusal> {
    let after =
        site::settings::find(session.conn(), domain::reach::Reach::Everything, before.id).await?;
    let after = after.ok_or_else(unknown_site)?;
    let details = json!({ "changed": { "rule_group_ids": {
        "from": before.settings.rule_groups,
        "to": after.settings.rule_groups,
    } } });
    session
        .commit(Change {
            action: Action::SiteUpdate,
            team: Some(before.team),
            target: before.id.as_uuid(),
            details,
        })
        .await?;
    Ok(NoContent)
}

fn unknown_site() -> Refusal {
    Refusal::not_found("site")
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let mut all = example::list(&group_example());
    all["next_cursor"] = Value::Null;
    vec![
        Operation {
            answer: Some(all),
            ..Operation::new("listSiteRuleGroups", Scope::SitesRead)
        },
        Operation::new("attachRuleGroup", Scope::SitesWrite),
        Operation::new("detachRuleGroup", Scope::SitesWrite),
    ]
}
