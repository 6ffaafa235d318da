//! Shadows: have a version judge beside the live one without effect, and see what it said.

use domain::{
    audit::Action,
    id::{GroupVersionId, RuleGroupId},
    media::Status,
    reason::Reason,
    scope::Scope,
};
use serde_json::json;
pub use store::rule_group::shadow::Difference;
use store::{
    page::Page,
    rule_group::{
        self, Group,
        shadow::{self, Count},
    },
};

use super::{
    find, hash_lists, lock, named_version,
    versions::{self, NewVersion},
};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, record};

/// What a version said in the shadow of the live one.
#[derive(Debug)]
pub struct ShadowReport {
    /// The version.
    pub version: GroupVersionId,
    /// Items that it judged.
    pub judged: i64,
    /// Of these, items that would have got another status.
    pub differing: i64,
    /// Of these, items without a score that a rule of the version asked for. No provider is asked
    /// on behalf of a shadow.
    pub unscored: i64,
    /// How many items got which status, and which one they would have got.
    pub counts: Vec<ShadowCount>,
}

/// The number of items with the same pair of statuses.
#[derive(Debug)]
pub struct ShadowCount {
    /// The status that they got.
    pub live: Status,
    /// The status that they would have got.
    pub shadow: Status,
    /// The number of items.
    pub items: i64,
}

impl ShadowReport {
    fn new(version: GroupVersionId, counted: &[Count]) -> Self {
        let sum = |wanted: fn(&Count) -> bool| -> i64 {
            let wanted = counted.iter().filter(|count| wanted(count));
            wanted.map(|count| count.items).sum()
        };
        let mut counts: Vec<ShadowCount> = Vec::new();
        for count in counted {
            let same = counts
                .iter_mut()
                .find(|known| (known.live, known.shadow) == (count.live, count.shadow));
            match same {
                Some(known) => known.items += count.items,
                None => counts.push(ShadowCount {
                    live: count.live,
                    shadow: count.shadow,
                    items: count.items,
                }),
            }
        }
        Self {
            version,
            judged: sum(|_| true),
            differing: sum(|count| count.live != count.shadow),
            unscored: sum(|count| count.unscored),
            counts,
        }
    }
}

/// Has a version judge in the shadow from now on. A group has one shadow at most: an earlier one ends.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it has no such version, or the version is live; its rules
/// do not compile any more, or name hash lists that were deleted.
#[boxed]
pub async fn set(
    caller: &Caller,
    group: RuleGroupId,
    wanted: GroupVersionId,
) -> Result<Group, Refused> {
    let mut session = caller.read(Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    let version = named_version(&mut session, group.id, wanted, "version_id").await?;
    session.end();
    let (trial_pool, holder) = (&caller.management.trial_pool, Some(group.team));
    let compiled = trial_pool.check(holder, version.rules).await?;

    let mut session = caller.change(Scope::RulesWrite).await?;
    let group = lock(&mut session, group.id).await?;
    if group.live == wanted {
        return Err(Refused::conflict(
            Conflict::VersionIsLive,
            "The version is live: in its own shadow it would say the same.",
        ));
    }
    hash_lists::require_still(&mut session, group.team, &compiled.rules).await?;
    replace(session, group, Some(wanted)).await
}

/// Creates a version from the draft, which must have this revision, and has it judge in the shadow. The draft stays. If the second
/// step is refused, the version exists all the same.
///
/// # Errors
/// Those of [`versions::create`] and of [`set`].
#[boxed]
pub async fn set_draft(
    caller: &Caller,
    group: RuleGroupId,
    revision: i64,
    note: Option<Reason>,
) -> Result<Group, Refused> {
    let new = NewVersion {
        revision,
        note,
        live: false,
    };
    let version = versions::create(caller, group, new).await?;
    set(caller, group, version.id).await
}

/// Ends a group's shadow. What it said is kept.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn end(caller: &Caller, group: RuleGroupId) -> Result<Group, Refused> {
    let mut session = caller.change(Scope::RulesWrite).await?;
    let group = lock(&mut session, group).await?;
    replace(session, group, None).await
}

/// Everything that a version ever said in the shadow.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it has no such version.
#[boxed]
pub async fn report(
    caller: &Caller,
    group: RuleGroupId,
    version: GroupVersionId,
) -> Result<ShadowReport, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let version = require(&mut session, group, version).await?;
    let counts = shadow::counts(session.conn(), version).await?;
    Ok(ShadowReport::new(version, &counts))
}

/// The items about which a version differed in the shadow, the newest first.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it has no such version.
#[boxed]
pub async fn differences(
    caller: &Caller,
    group: RuleGroupId,
    version: GroupVersionId,
    page: Page,
) -> Result<Vec<Difference>, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let version = require(&mut session, group, version).await?;
    Ok(shadow::differences(session.conn(), version, page).await?)
}

/// The version, if it is one of a group within the caller's reach.
async fn require(
    session: &mut Session,
    group: RuleGroupId,
    version: GroupVersionId,
) -> Result<GroupVersionId, Refused> {
    let group = find(session, group).await?;
    let found = rule_group::version(session.conn(), group.id, version).await?;
    let found = found.ok_or(Refused::NotFound(Noun::Version))?;
    Ok(found.listed.id)
}

async fn replace(
    mut session: Session,
    before: Group,
    version: Option<GroupVersionId>,
) -> Result<Group, Refused> {
    if before.shadow == version {
        return Ok(before);
    }
    shadow::set(session.conn(), before.id, version).await?;
    let after = find(&mut session, before.id).await?;
    let details = json!({ "changed": { "shadow_version_id": {
        "from": before.shadow, "to": after.shadow
    } } });
    let (action, team) = (Action::RuleGroupShadow, after.team);
    record(session, action, team, after.id, details).await?;
    Ok(after)
}
