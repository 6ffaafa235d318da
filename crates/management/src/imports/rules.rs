//! The rule groups of an archive, version by version.

use domain::{
    audit::Action,
    id::{GroupVersionId, RuleGroupId, TeamId, of_copy},
    name::Name,
    reason::Reason,
    rule_file::InputFile,
    scope::Scope,
};
use serde_json::json;
use store::{
    export::{ExportedGroup, ListedVersion},
    rule_group::{self, ImportedGroup, ImportedVersion},
};

use super::names;
use crate::{Caller, Refused, Session, boxed, record};

/// A version of an archive in this database.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its group here.
    pub group: RuleGroupId,
    /// Its id here.
    pub version: GroupVersionId,
    /// Whether it was stored now.
    pub is_new: bool,
}

/// Stores a version of a group, and the group itself if it is not there. The live version comes first. A group that is there
/// keeps its name and its live version.
///
/// # Errors
/// The caller may not do it; there is no such team; the rules do not compile; the version is there with other rules.
#[boxed]
pub async fn version(
    caller: &Caller,
    team: TeamId,
    (group, listed): (&ExportedGroup, &ListedVersion),
    file: InputFile,
) -> Result<Placed, Refused> {
    let InputFile { name, rules } = file;
    let rules = caller.management.trial_pool.rules(None, rules).await?;
    let compiled = caller.management.trial_pool.check(None, rules).await?;
    // A note that this version would not take is left out.
    let note: Option<Reason> = Reason::try_from(listed.note.clone()).ok();

    let mut session = caller.change(Scope::RulesWrite).await?;
    session.named_team(Some(team)).await?;
    let (id, is_there) = home(&mut session, team, group.id).await?;
    let version = if id == group.id {
        listed.id
    } else {
        of_copy(listed.id.as_uuid(), team).into()
    };
    let placed = Placed {
        group: id,
        version,
        is_new: true,
    };
    let content = ImportedVersion {
        id: version,
        number: listed.number,
        note: note.as_ref().map_or("", Reason::as_str),
        created_at: listed.created_at,
        content: compiled.version(),
    };
    let known = rule_group::version(session.conn(), id, version).await?;
    if let Some(known) = known {
        if known.rules != compiled.rules {
            let detail = format!(
                "Version {} of the rule group {id} is there, with other rules than in the archive.",
                known.listed.number
            );
            return Err(Refused::Invalid(detail.into()));
        }
        rule_group::keep(session.conn(), version).await?;
        session.commit_unrecorded().await?;
        return Ok(Placed {
            is_new: false,
            ..placed
        });
    }
    let action = if is_there {
        rule_group::import_version(session.conn(), id, content).await?;
        Action::RuleGroupVersion
    } else {
        if listed.id != group.live_version_id {
            let detail = format!("The archive has no live version of the group {}.", group.id);
            return Err(Refused::Invalid(detail.into()));
        }
        let name = free_name(&mut session, team, &name, group.deleted).await?;
        let new = ImportedGroup {
            id,
            team,
            name: &name,
            deleted: group.deleted,
            created_at: group.created_at,
        };
        rule_group::import_group(session.conn(), new, content).await?;
        Action::RuleGroupCreate
    };
    let details = json!({ "imported": {
        "rule_group_id": group.id, "version_id": listed.id, "number": listed.number
    } });
    record(session, action, team, id, details).await?;
    Ok(placed)
}

/// The group's id here, and whether it is there.
async fn home(
    session: &mut Session,
    team: TeamId,
    group: RuleGroupId,
) -> Result<(RuleGroupId, bool), Refused> {
    match rule_group::owner(session.conn(), group).await? {
        None => Ok((group, false)),
        Some(owner) if owner == team => Ok((group, true)),
        Some(_) => {
            let copy = RuleGroupId::from(of_copy(group.as_uuid(), team));
            let owner = rule_group::owner(session.conn(), copy).await?;
            Ok((copy, owner.is_some()))
        }
    }
}

async fn free_name(
    session: &mut Session,
    team: TeamId,
    wanted: &Name,
    is_deleted: bool,
) -> Result<String, Refused> {
    for name in names(wanted.as_str()) {
        if is_deleted || !rule_group::is_named(session.conn(), team, &name).await? {
            return Ok(name);
        }
    }
    Err(store::Error::NameTaken.into())
}
