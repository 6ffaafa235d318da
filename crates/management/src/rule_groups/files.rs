//! Rule groups as documents: export, and import as a new group or as a group's draft.

use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    name::Name,
    rule_file::{InputFile, RuleFile},
    rules::Rule,
    scope::Scope,
};

use super::{
    CreatedRuleGroup, Group, NewRuleGroup, create,
    drafts::{self, CheckedDraft},
    find, named_version,
};
use crate::{Caller, Management, Refused, boxed};

/// A rule group as a YAML document.
#[derive(Debug)]
pub struct ExportedGroup {
    /// A file name for it, without the extension.
    pub name: String,
    /// The document.
    pub yaml: String,
}

/// Creates a group from a document. `read` reads the document; it is called only for callers who
/// can create groups.
///
/// # Errors
/// Those of `read` and of [`create`].
pub async fn import_group<E: From<Refused> + Send + 'static>(
    caller: &Caller,
    team: Option<TeamId>,
    read: impl FnOnce() -> Result<InputFile, E> + Send + 'static,
) -> Result<CreatedRuleGroup, E> {
    let InputFile { name, rules } = read_for(caller, read).await?;
    let new = NewRuleGroup {
        name,
        team,
        rules,
        note: None,
    };
    Ok(create(caller, new).await?)
}

/// Replaces a group's draft with the rules of a document, if it still has this revision. Without a
/// revision, replaces it in any case. The group keeps its name. `read` reads the document; it is
/// called only for callers who can edit groups.
///
/// # Errors
/// Those of `read` and of [`drafts::replace`].
pub async fn import_draft<E: From<Refused> + Send + 'static>(
    caller: &Caller,
    group: RuleGroupId,
    revision: Option<i64>,
    read: impl FnOnce() -> Result<InputFile, E> + Send + 'static,
) -> Result<CheckedDraft, E> {
    let file = read_for(caller, read).await?;
    Ok(drafts::replace(caller, group, file.rules, revision).await?)
}

/// A version of a group as a YAML document. If `None`, it is the live version.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it has no such version.
#[boxed]
pub async fn export(
    caller: &Caller,
    group: RuleGroupId,
    version: Option<GroupVersionId>,
) -> Result<ExportedGroup, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    let wanted = version.unwrap_or(group.live);
    let version = named_version(&mut session, group.id, wanted, "version_id").await?;
    session.end();
    let name = format!("{}-{}", group.id, version.listed.number);
    let yaml = write(&caller.management, group, version.rules).await?;
    Ok(ExportedGroup { name, yaml })
}

/// A group's draft as a YAML document. Without an edited draft, it is the live version.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn export_draft(caller: &Caller, group: RuleGroupId) -> Result<ExportedGroup, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    let draft = drafts::draft(&mut session, group.id).await?;
    session.end();
    let name = format!("{}-draft", group.id);
    let yaml = write(&caller.management, group, draft.rules).await?;
    Ok(ExportedGroup { name, yaml })
}

async fn write(management: &Management, group: Group, rules: Vec<Rule>) -> Result<String, Refused> {
    // The command line once accepted other names.
    let name: Name = group.name.parse().map_err(|_| Refused::Internal)?;
    let file = RuleFile {
        name,
        rules: rules.into_iter().map(Into::into).collect(),
    };
    let writing = move || file.to_yaml();
    management.trial_pool.work(Some(group.team), writing).await
}

/// Reads a document in the trial pool, for a caller who can import it.
async fn read_for<E: From<Refused> + Send + 'static>(
    caller: &Caller,
    read: impl FnOnce() -> Result<InputFile, E> + Send + 'static,
) -> Result<InputFile, E> {
    let session = caller.read(Scope::RulesWrite).await?;
    let holder = session.only_team();
    session.end();
    caller.management.trial_pool.work(holder, read).await?
}
