//! Shadows: an item is judged once more with a version in the place of its group's, all other groups as they are. Whatever
//! goes wrong with a shadow, the verdict does not hear of it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use apalis::prelude::BoxDynError;
use domain::{id::GroupVersionId, rules::CompiledGroup};
use store::{rule_group::shadow::Shadowed, verdict::ToJudge};
use tokio::task::block_in_place;
use tracing::warn;

use super::verdict_on;
use crate::groups::Groups;

/// What the item's shadows say about it. One that cannot judge says nothing.
pub(super) async fn judge(
    item: &ToJudge,
    live: &[Arc<CompiledGroup>],
    groups: &Groups,
) -> Vec<Shadowed> {
    let mut shadowed = Vec::with_capacity(item.shadows.len());
    for version in &item.shadows {
        match judge_with(item, live, groups, *version).await {
            Ok(judged) => shadowed.push(judged),
            Err(error) => warn!(%error, version.id = %version, "a shadow could not judge an item"),
        }
    }
    shadowed
}

async fn judge_with(
    item: &ToJudge,
    live: &[Arc<CompiledGroup>],
    groups: &Groups,
    version: GroupVersionId,
) -> Result<Shadowed, BoxDynError> {
    let shadow = groups.version(version).await?;
    let unscored = shadow.categories().iter().any(|category| {
        let scores = item.scores.as_ref();
        scores.is_none_or(|scores| scores.get(*category).is_none())
    });
    let together: Vec<_> = live
        .iter()
        .map(|group| {
            let group = if group.group() == shadow.group() {
                &shadow
            } else {
                group
            };
            Arc::clone(group)
        })
        .collect();
    // A panic would fail the job, and with it the verdict.
    let verdict = block_in_place(|| catch_unwind(AssertUnwindSafe(|| verdict_on(item, &together))));
    let verdict = verdict.map_err(|_| "it panicked")?;
    Ok(Shadowed {
        version,
        status: verdict.status,
        unscored,
    })
}
