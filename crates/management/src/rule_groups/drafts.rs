//! A rule group's draft: read, replace, discard.

use domain::{
    audit::Action,
    id::RuleGroupId,
    rule_diff::Difference,
    rules::{InputRules, Rule},
    scope::Scope,
};
use serde_json::{Value, json};
pub use store::rule_group::Draft;
use store::rule_group::{self, Group};

use super::{Warning, find, hash_lists, lock, named_version, unknown, warnings_of};
use crate::{Caller, Refused, Session, boxed, record};

/// A draft, and what its author should know about it.
#[derive(Debug)]
pub struct CheckedDraft {
    /// The draft.
    pub draft: Draft,
    /// What its author should know about its rules.
    pub warnings: Vec<Warning>,
}

/// A group's draft. A group without an edited draft shows its live version.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn get(caller: &Caller, group: RuleGroupId) -> Result<CheckedDraft, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    read(&mut session, group.id).await
}

/// A draft beside the live version.
#[derive(Debug)]
pub struct ComparedDraft {
    /// The draft.
    pub draft: Draft,
    /// What its author should know about its rules.
    pub warnings: Vec<Warning>,
    /// What it would change in the live version.
    pub difference: Difference,
}

/// A group's draft, and what it would change in the live version.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn compare(caller: &Caller, group: RuleGroupId) -> Result<ComparedDraft, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    let CheckedDraft { draft, warnings } = read(&mut session, group.id).await?;
    if !draft.edited {
        return Ok(ComparedDraft {
            draft,
            warnings,
            difference: Difference::default(),
        });
    }
    let live = named_version(&mut session, group.id, group.live, "version_id").await?;
    session.end();
    let comparing = move || ComparedDraft {
        difference: Difference::between(&live.rules, &draft.rules),
        draft,
        warnings,
    };
    caller
        .management
        .trial_pool
        .work(Some(group.team), comparing)
        .await
}

/// Replaces a group's draft if it still has this revision. Without a revision, replaces it in any
/// case.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the draft has another revision; the rules do not compile
/// or name hash lists that the team cannot use.
#[boxed]
pub async fn replace(
    caller: &Caller,
    group: RuleGroupId,
    rules: InputRules,
    revision: Option<i64>,
) -> Result<CheckedDraft, Refused> {
    // Check this first: it saves compiling rules that would be refused anyway.
    let mut session = caller.read(Scope::RulesWrite).await?;
    let found = find(&mut session, group).await?;
    require(revision, found.draft_revision)?;
    session.end();
    let rules = caller
        .management
        .trial_pool
        .rules(Some(found.team), rules)
        .await?;
    put(caller, &found, rules, revision, json!({})).await
}

/// Stores these rules as the draft of a group that the caller may edit, if the draft still has this revision. `details` is what
/// the audit log says beyond the new revision and the number of rules.
///
/// # Errors
/// See [`replace`].
pub(super) async fn put(
    caller: &Caller,
    group: &Group,
    rules: Vec<Rule>,
    revision: Option<i64>,
    mut details: Value,
) -> Result<CheckedDraft, Refused> {
    let compiled = caller
        .management
        .trial_pool
        .check(Some(group.team), rules)
        .await?;

    let mut session = caller.change(Scope::RulesWrite).await?;
    let group = lock(&mut session, group.id).await?;
    require(revision, group.draft_revision)?;
    hash_lists::require(&mut session, group.team, &compiled.rules).await?;
    let rules = Some(compiled.rules.as_slice());
    let revision = rule_group::edit(session.conn(), group.id, rules).await?;
    let warnings = warnings_of(&mut session, &compiled.rules).await?;
    details["edited"] = json!({ "revision": revision, "rules": compiled.rules.len() });
    let (action, team) = (Action::RuleGroupEdit, group.team);
    record(session, action, team, group.id, details).await?;
    let draft = Draft {
        rules: compiled.rules,
        revision,
        edited: true,
    };
    Ok(CheckedDraft { draft, warnings })
}

/// Discards a group's draft: it shows the live version again. With a revision, only if the draft still has it.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the draft has another revision.
#[boxed]
pub async fn discard(
    caller: &Caller,
    group: RuleGroupId,
    revision: Option<i64>,
) -> Result<CheckedDraft, Refused> {
    let mut session = caller.change(Scope::RulesWrite).await?;
    let group = lock(&mut session, group).await?;
    require(revision, group.draft_revision)?;
    if !group.edited {
        return read(&mut session, group.id).await;
    }
    rule_group::edit(session.conn(), group.id, None).await?;
    let draft = read(&mut session, group.id).await?;
    let details = json!({ "discarded": { "revision": group.draft_revision } });
    let (action, team) = (Action::RuleGroupEdit, group.team);
    record(session, action, team, group.id, details).await?;
    Ok(draft)
}

async fn read(session: &mut Session, group: RuleGroupId) -> Result<CheckedDraft, Refused> {
    let draft = draft(session, group).await?;
    let warnings = warnings_of(session, &draft.rules).await?;
    Ok(CheckedDraft { draft, warnings })
}

/// The draft of a group that was found.
pub(super) async fn draft(session: &mut Session, group: RuleGroupId) -> Result<Draft, Refused> {
    let draft = rule_group::draft(session.conn(), group).await?;
    draft.ok_or_else(unknown)
}

/// Refuses a caller who saw another revision.
pub(super) fn require(seen: Option<i64>, revision: i64) -> Result<(), Refused> {
    match seen {
        Some(seen) if seen != revision => Err(Refused::draft_changed(revision)),
        Some(_) | None => Ok(()),
    }
}
