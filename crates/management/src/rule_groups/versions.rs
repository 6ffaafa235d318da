//! A rule group's versions: list, create, read, make one live, and see which were live when.

use domain::{
    audit::Action,
    id::{GroupVersionId, RuleGroupId},
    reason::Reason,
    rules::InputRules,
    scope::Scope,
};
use serde_json::json;
pub use store::rule_group::{ListedVersion, Publication, Version};
use store::{
    page::Page,
    rule_group::{self, Authorship, Group},
};

use super::{
    drafts::{draft, require},
    find, hash_lists, lock, named_version, require_rule_bytes,
};
use crate::{Caller, Noun, Refused, boxed, created, record};

/// A version to create from the draft.
#[derive(Debug)]
pub struct NewVersion {
    /// The revision of the draft that the caller read.
    pub revision: i64,
    /// A note about it.
    pub note: Option<Reason>,
    /// Whether it is live at once.
    pub live: bool,
}

/// A group's versions, the newest first.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn list(
    caller: &Caller,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<ListedVersion>, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    Ok(rule_group::versions(session.conn(), group.id, page).await?)
}

/// Creates a version from a group's draft.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the draft has another revision;
/// its rules do not compile any more, or name hash lists that were deleted; the team has reached
/// its limit of rules stored in a day.
#[boxed]
pub async fn create(
    caller: &Caller,
    group: RuleGroupId,
    new: NewVersion,
) -> Result<ListedVersion, Refused> {
    // An earlier binary may have accepted more than this one, so the draft is compiled again.
    let mut session = caller.read(Scope::RulesWrite).await?;
    let found = find(&mut session, group).await?;
    let draft = draft(&mut session, found.id).await?;
    require(Some(new.revision), draft.revision)?;
    session.end();
    let (trial_pool, holder) = (&caller.management.trial_pool, Some(found.team));
    let compiled = trial_pool.check(holder, draft.rules).await?;

    let mut session = caller.change(Scope::RulesWrite).await?;
    let group = lock(&mut session, group).await?;
    require(Some(new.revision), group.draft_revision)?;
    hash_lists::require(&mut session, group.team, &compiled.rules).await?;
    require_rule_bytes(&caller.management, &mut session, group.team).await?;
    let by = session.actor();
    let authorship = Authorship {
        by,
        note: new.note.as_ref().map_or("", Reason::as_str),
    };
    let conn = session.conn();
    let id = rule_group::add_version(conn, group.id, compiled.version(), authorship).await?;
    if new.live {
        rule_group::set_live(conn, group.id, id, by).await?;
        // The draft is that version now.
        rule_group::edit(conn, group.id, None).await?;
    }
    let version = rule_group::version(conn, group.id, id).await?;
    let version = version.ok_or(Refused::Internal)?.listed;
    let action = if new.live {
        Action::RuleGroupPublish
    } else {
        Action::RuleGroupVersion
    };
    let details = created(&version);
    record(session, action, group.team, group.id, details).await?;
    Ok(version)
}

/// Creates a version with these rules and makes it live. The group's draft stays if it was edited.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the rules do not compile or name
/// hash lists that the team cannot use; the team has reached its limit of rules stored in a day.
#[boxed]
pub async fn publish(
    caller: &Caller,
    group: RuleGroupId,
    rules: InputRules,
) -> Result<ListedVersion, Refused> {
    let mut session = caller.read(Scope::RulesWrite).await?;
    let found = find(&mut session, group).await?;
    session.end();
    let (trial_pool, holder) = (&caller.management.trial_pool, Some(found.team));
    let rules = trial_pool.rules(holder, rules).await?;
    let compiled = trial_pool.check(holder, rules).await?;

    let mut session = caller.change(Scope::RulesWrite).await?;
    let group = lock(&mut session, group).await?;
    hash_lists::require(&mut session, group.team, &compiled.rules).await?;
    require_rule_bytes(&caller.management, &mut session, group.team).await?;
    let by = session.actor();
    let authorship = Authorship { by, note: "" };
    let conn = session.conn();
    let id = rule_group::add_version(conn, group.id, compiled.version(), authorship).await?;
    rule_group::set_live(conn, group.id, id, by).await?;
    let version = rule_group::version(conn, group.id, id).await?;
    let version = version.ok_or(Refused::Internal)?.listed;
    let (action, details) = (Action::RuleGroupPublish, created(&version));
    record(session, action, group.team, group.id, details).await?;
    Ok(version)
}

/// A version with its rules.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it has no such version.
#[boxed]
pub async fn get(
    caller: &Caller,
    group: RuleGroupId,
    version: GroupVersionId,
) -> Result<Version, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    let version = rule_group::version(session.conn(), group.id, version).await?;
    version.ok_or(Refused::NotFound(Noun::Version))
}

/// Makes a version live: an earlier one again, or one that was never live. The draft stays if it
/// was edited.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it has no such version; its rules do not compile any more,
/// or name hash lists that were deleted.
#[boxed]
pub async fn set_live(
    caller: &Caller,
    group: RuleGroupId,
    wanted: GroupVersionId,
) -> Result<Group, Refused> {
    let mut session = caller.read(Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    let version = named_version(&mut session, group.id, wanted, "version_id").await?;
    session.end();
    if group.live == wanted {
        return Ok(group);
    }
    // Rules that this binary cannot judge with must not become live.
    let (trial_pool, holder) = (&caller.management.trial_pool, Some(group.team));
    let compiled = trial_pool.check(holder, version.rules).await?;

    let mut session = caller.change(Scope::RulesWrite).await?;
    let before = lock(&mut session, group.id).await?;
    if before.live == wanted {
        return Ok(before);
    }
    hash_lists::require_still(&mut session, before.team, &compiled.rules).await?;
    let by = session.actor();
    rule_group::set_live(session.conn(), before.id, wanted, by).await?;
    let after = find(&mut session, before.id).await?;
    let details = json!({ "changed": { "live_version_number": {
        "from": before.live_number, "to": after.live_number
    } }, "version_id": wanted });
    let (action, team) = (Action::RuleGroupPublish, after.team);
    record(session, action, team, after.id, details).await?;
    Ok(after)
}

/// Which version was live from when, the latest first.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn publications(
    caller: &Caller,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<Publication>, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    Ok(rule_group::publications(session.conn(), group.id, page).await?)
}
