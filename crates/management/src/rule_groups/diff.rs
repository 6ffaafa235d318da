//! What differs between two versions of a rule group, or between a version and the draft.

use domain::{
    id::{GroupVersionId, RuleGroupId},
    rule_diff::Difference,
    scope::Scope,
};

use super::{drafts::draft, find, named_version};
use crate::{Caller, Refused, boxed};

/// What differs between two versions. If the first is `None`, it is the live version. If the second
/// is `None`, it is the draft.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; it has no such version.
#[boxed]
pub async fn between(
    caller: &Caller,
    group: RuleGroupId,
    from: Option<GroupVersionId>,
    to: Option<GroupVersionId>,
) -> Result<Difference, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    let from = from.unwrap_or(group.live);
    let from = named_version(&mut session, group.id, from, "from_version_id").await?;
    let to = match to {
        Some(to) => {
            let to = named_version(&mut session, group.id, to, "to_version_id").await?;
            to.rules
        }
        None => draft(&mut session, group.id).await?.rules,
    };
    session.end();
    let work = move || Difference::between(&from.rules, &to);
    caller
        .management
        .trial_pool
        .work(Some(group.team), work)
        .await
}
