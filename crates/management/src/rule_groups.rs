//! Rule groups: list, create, read, rename, delete. Everything else about them is in a module of its own.

pub mod attachments;
pub mod backtests;
pub mod diff;
pub mod drafts;
pub mod edits;
pub mod files;
mod hash_lists;
pub mod overview;
pub mod shadow;
pub mod threshold;
pub mod trials;
pub mod versions;

use std::collections::HashMap;

use domain::{
    audit::Action,
    id::{GroupVersionId, RuleGroupId, RuleId, TeamId},
    name::Name,
    reason::Reason,
    rules::{InputRules, Rule, RuleKind, RuleType},
    scope::Scope,
    score::Category,
};
use serde_json::json;
pub use store::{
    page::Page,
    rule_group::{Group, JudgedSite},
};
use store::{
    provider,
    rule_group::{self, Authorship, Version},
};

use crate::{
    Caller, Change, Conflict, Management, Noun, Outdated, Refused, Session, boxed, difference,
    record, trial_pool::Checked,
};

/// A rule group to create.
#[derive(Debug)]
pub struct NewRuleGroup {
    /// Its name.
    pub name: Name,
    /// Its team. If `None`, it is the team of the caller. Operators must name a team.
    pub team: Option<TeamId>,
    /// The rules of its first version, which is live at once.
    pub rules: InputRules,
    /// A note about the first version.
    pub note: Option<Reason>,
}

/// A rule group that was just created.
#[derive(Debug)]
pub struct CreatedRuleGroup {
    /// The group.
    pub group: Group,
    /// What its author should know about its rules.
    pub warnings: Vec<Warning>,
}

/// The kinds of rules, as far as they are in the live versions of these groups. Groups beyond the caller's reach, and very
/// large versions, are not looked through.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn kinds(
    caller: &Caller,
    team: TeamId,
    groups: &[RuleGroupId],
    rules: &[RuleId],
) -> Result<HashMap<RuleId, RuleType>, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    session.require_team(team)?;
    Ok(rule_group::kinds(session.conn(), team, groups, rules).await?)
}

/// Rule groups within the caller's reach, the oldest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Group>, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let reach = session.reach();
    Ok(rule_group::list(session.conn(), reach, page).await?)
}

/// A rule group.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn get(caller: &Caller, group: RuleGroupId) -> Result<Group, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    find(&mut session, group).await
}

/// Creates a group whose first version is live.
///
/// # Errors
/// The caller may not do it; the team does not exist; the rules do not compile or name hash lists
/// that the team cannot use; the name is taken; the team has reached its limit of groups, or of
/// rules stored in a day.
#[boxed]
pub async fn create(caller: &Caller, new: NewRuleGroup) -> Result<CreatedRuleGroup, Refused> {
    // Callers who cannot create groups cannot make this process compile rules.
    let mut session = caller.read(Scope::RulesWrite).await?;
    let team = session.named_team(new.team).await?;
    let team = team.ok_or_else(|| Refused::field("team_id", "is missing"))?;
    session.end();
    let rules = caller
        .management
        .trial_pool
        .rules(Some(team), new.rules)
        .await?;
    let compiled = caller
        .management
        .trial_pool
        .check(Some(team), rules)
        .await?;

    let mut session = caller.change(Scope::RulesWrite).await?;
    session.require_team(team)?;
    let note = new.note.as_ref().map_or("", Reason::as_str);
    let (group, change) = add(
        &caller.management,
        &mut session,
        team,
        &new.name,
        &compiled,
        note,
    )
    .await?;
    let warnings = warnings_of(&mut session, &compiled.rules).await?;
    session.commit(change).await?;
    Ok(CreatedRuleGroup { group, warnings })
}

/// Creates a group of this team whose first version is live, in a session that has the scope for it.
pub(crate) async fn add(
    management: &Management,
    session: &mut Session,
    team: TeamId,
    name: &Name,
    compiled: &Checked,
    note: &str,
) -> Result<(Group, Change), Refused> {
    hash_lists::require(session, team, &compiled.rules).await?;
    require_rule_bytes(management, session, team).await?;
    let authorship = Authorship {
        by: session.actor(),
        note,
    };
    let (conn, version) = (session.conn(), compiled.version());
    let id = rule_group::create_as(conn, team, name.as_str(), version, authorship).await?;
    let group = find(session, id).await?;
    let details = json!({ "created": group, "rules": compiled.rules.len() });
    let change = Change::new(Action::RuleGroupCreate, team, id, details);
    Ok((group, change))
}

/// Renames a group. Without a name, nothing changes.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the name is taken.
#[boxed]
pub async fn rename(
    caller: &Caller,
    group: RuleGroupId,
    name: Option<Name>,
) -> Result<Group, Refused> {
    let mut session = caller.change(Scope::RulesWrite).await?;
    let before = lock(&mut session, group).await?;
    give_name(session, before, name).await
}

/// Renames a group for a caller who has seen its name before. If it has another name by now, nothing is changed.
///
/// # Errors
/// As for [`rename`].
#[boxed]
pub async fn rename_seen(
    caller: &Caller,
    group: RuleGroupId,
    seen: &str,
    name: Name,
) -> Result<Result<Group, Outdated>, Refused> {
    let mut session = caller.change(Scope::RulesWrite).await?;
    let before = lock(&mut session, group).await?;
    if before.name != seen {
        let (action, id) = (Action::RuleGroupUpdate, group.as_uuid());
        return Ok(Err(session.outdated(action, id, "").await?));
    }
    give_name(session, before, Some(name)).await.map(Ok)
}

/// Gives a locked group a name.
async fn give_name(
    mut session: Session,
    before: Group,
    name: Option<Name>,
) -> Result<Group, Refused> {
    let group = before.id;
    let mut after = before.clone();
    if let Some(name) = name {
        rule_group::rename(session.conn(), group, name.as_str()).await?;
        after.name = name.into();
    }
    if let Some(details) = difference(&before, &after) {
        let (action, team) = (Action::RuleGroupUpdate, after.team);
        record(session, action, team, group, details).await?;
    }
    Ok(after)
}

/// Deletes a group: nothing can name it any more, and its name is free. Verdicts still name its
/// versions.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it judges for a site.
#[boxed]
pub async fn delete(caller: &Caller, group: RuleGroupId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::RulesWrite).await?;
    let reach = session.reach();
    let found = rule_group::lock_to_disable(session.conn(), reach, group).await?;
    let (group, sites) = found.ok_or_else(unknown)?;
    if !sites.is_empty() {
        let sites: Vec<String> = sites.iter().map(ToString::to_string).collect();
        let detail = format!("The group judges for sites: {}.", sites.join(", "));
        return Err(Refused::conflict(Conflict::RuleGroupInUse, detail));
    }
    rule_group::disable(session.conn(), group.id).await?;
    let details = json!({ "deleted": { "name": group.name } });
    let (action, team) = (Action::RuleGroupDelete, group.team);
    record(session, action, team, group.id, details).await
}

/// A group within the caller's reach.
async fn find(session: &mut Session, group: RuleGroupId) -> Result<Group, Refused> {
    let reach = session.reach();
    let group = rule_group::find(session.conn(), reach, group).await?;
    group.ok_or_else(unknown)
}

/// A group within the caller's reach, locked until the transaction ends.
async fn lock(session: &mut Session, group: RuleGroupId) -> Result<Group, Refused> {
    let reach = session.reach();
    let group = rule_group::lock(session.conn(), reach, group).await?;
    group.ok_or_else(unknown)
}

/// A version of a group, which this member of the request names.
async fn named_version(
    session: &mut Session,
    group: RuleGroupId,
    version: GroupVersionId,
    field: &str,
) -> Result<Version, Refused> {
    let version = rule_group::version(session.conn(), group, version).await?;
    version.ok_or_else(|| Refused::field(field, "is no version of this group"))
}

fn unknown() -> Refused {
    Refused::NotFound(Noun::RuleGroup)
}

/// Refuses a team that has stored the allowed amount of rules within 24 hours.
async fn require_rule_bytes(
    management: &Management,
    session: &mut Session,
    team: TeamId,
) -> Result<(), Refused> {
    let stored = rule_group::stored_of_late(session.conn(), team).await?;
    let most = management.rules_per_day;
    if u64::try_from(stored).unwrap_or(0) < most {
        return Ok(());
    }
    let mib = most >> 20;
    let detail = format!(
        "The team has stored {mib} MiB of rules, in versions and backtests, within the last 24 hours, which is the most: try again later."
    );
    Err(Refused::conflict(Conflict::LimitReached, detail))
}

/// Something that an author of rules should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The member that the warning is about, such as `rules[3].category`.
    pub field: String,
    /// What the author should know about it.
    pub message: String,
}

/// The warnings about these rules.
async fn warnings_of(session: &mut Session, rules: &[Rule]) -> Result<Vec<Warning>, Refused> {
    let scorable = provider::scorable(session.conn()).await?;
    Ok(unscorable(rules, &scorable).map(Warning::new).collect())
}

/// The enabled rules about categories that no provider can score: the place of each rule, and its
/// category.
fn unscorable(rules: &[Rule], scorable: &[Category]) -> impl Iterator<Item = (usize, Category)> {
    rules.iter().enumerate().filter_map(|(place, rule)| {
        let asked = match &rule.kind {
            RuleKind::AiThreshold(threshold) if rule.enabled => threshold.category,
            RuleKind::AiThreshold(_)
            | RuleKind::Keyword(_)
            | RuleKind::Regex(_)
            | RuleKind::Link(_)
            | RuleKind::ImageHash(_) => return None,
        };
        (!scorable.contains(&asked)).then_some((place, asked))
    })
}

impl Warning {
    fn new((place, category): (usize, Category)) -> Self {
        Self {
            field: format!("rules[{place}].category"),
            message: format!(
                "No configured provider can score `{category}`, so the rule never matches."
            ),
        }
    }
}
