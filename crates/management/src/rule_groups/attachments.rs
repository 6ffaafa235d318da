//! Which rule groups judge a site's submissions together: list, attach, detach.

use domain::{
    audit::Action,
    id::{RuleGroupId, SiteId},
    scope::Scope,
};
use serde_json::json;
use store::{
    rule_group::{self, Group},
    site::settings::{self, ManagedSite},
};

use super::unknown;
use crate::{
    Caller, Refused, Session, boxed, record,
    sites::{self, MOST_GROUPS},
};

/// The groups that are attached to a site, in the order in which they judge. There are at most [`MOST_GROUPS`].
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn list(caller: &Caller, site: SiteId) -> Result<Vec<Group>, Refused> {
    let mut session = caller.read(Scope::SitesRead).await?;
    let site = sites::find(&mut session, site).await?;
    Ok(rule_group::attached(session.conn(), site.id).await?)
}

/// Attaches a group to a site. If it is attached already, nothing changes.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; its team has no such group; the
/// site has the most groups already.
#[boxed]
pub async fn attach(caller: &Caller, site: SiteId, group: RuleGroupId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::SitesWrite).await?;
    let site = sites::lock(&mut session, site).await?;
    // Locked until the commit, so that nobody deletes it meanwhile.
    let own = settings::own_groups(session.conn(), site.team, &[group]).await?;
    if own.is_empty() {
        return Err(unknown());
    }
    if site.settings.rule_groups.contains(&group) {
        return Ok(());
    }
    if site.settings.rule_groups.len() >= MOST_GROUPS {
        let detail = format!("A site has at most {MOST_GROUPS} rule groups.");
        return Err(Refused::Invalid(detail.into()));
    }
    rule_group::attach(session.conn(), site.id, group).await?;
    commit(session, &site).await
}

/// Detaches a group from a site. If it is not attached, nothing changes.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; its team has no such group.
#[boxed]
pub async fn detach(caller: &Caller, site: SiteId, group: RuleGroupId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::SitesWrite).await?;
    let site = sites::lock(&mut session, site).await?;
    let own = settings::own_groups(session.conn(), site.team, &[group]).await?;
    let group = own.first().copied().ok_or_else(unknown)?;
    if !rule_group::detach(session.conn(), site.id, group).await? {
        return Ok(());
    }
    commit(session, &site).await
}

/// Records the earlier and the new groups of the site, and commits.
async fn commit(mut session: Session, before: &ManagedSite) -> Result<(), Refused> {
    let after = sites::find(&mut session, before.id).await?;
    let details = json!({ "changed": { "rule_group_ids": {
        "from": before.settings.rule_groups,
        "to": after.settings.rule_groups,
    } } });
    record(session, Action::SiteUpdate, before.team, before.id, details).await
}
