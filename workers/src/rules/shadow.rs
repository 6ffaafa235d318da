//! Shadows: an item is judged once more with another version of one group. All other groups stay as
//! they are. A failure of a shadow never changes the verdict.

use std::{panic::AssertUnwindSafe, sync::Arc};

use apalis::prelude::BoxDynError;
use domain::id::GroupVersionId;
use futures::FutureExt as _;
use store::{rule_group::shadow::Shadowed, verdict::ToJudge};
use telemetry::{RepeatedFailure, failed, over};
use tokio::time::{Instant, timeout_at};

use crate::{
    findings::{GroupFindings, verdict_on},
    rule_group_cache::PATIENCE,
    rule_pool::RulePool,
};

/// Shadows that could not judge, of the whole process.
static TROUBLE: RepeatedFailure = RepeatedFailure::at_once();

/// The results of the item's shadows. A shadow that cannot judge has none.
pub(super) async fn judge(
    item: &Arc<ToJudge>,
    live: &[GroupFindings],
    rule_pool: &RulePool,
) -> Vec<Shadowed> {
    let end = Instant::now() + PATIENCE / 2;
    let mut shadowed = Vec::with_capacity(item.shadows.len());
    for version in &item.shadows {
        // A panic would fail the job and lose the verdict.
        let judging = AssertUnwindSafe(judge_with(item, live, rule_pool, *version)).catch_unwind();
        let said = match timeout_at(end, judging).await {
            Ok(Ok(said)) => said,
            Ok(Err(_)) => Err("it panicked".into()),
            Err(_) => Err("it waited too long for its rules or its turn".into()),
        };
        match said {
            Ok(said) => {
                over!(TROUBLE.worked(), "shadows judge all items again");
                shadowed.push(said);
            }
            Err(error) => {
                failed!(TROUBLE.failed(), %error, version.id = %version, "a shadow could not judge an item");
            }
        }
    }
    shadowed
}

async fn judge_with(
    item: &Arc<ToJudge>,
    live: &[GroupFindings],
    rule_pool: &RulePool,
    version: GroupVersionId,
) -> Result<Shadowed, BoxDynError> {
    let examined = rule_pool.examine(item.team, item, &[version], None).await?;
    let shadow = examined.first().ok_or("it did not judge")?;
    if shadow.judged.is_none() {
        return Err("it is too heavy to judge".into());
    }
    let unscored = shadow.categories.iter().any(|category| {
        let scores = item.scores.as_ref();
        scores.is_none_or(|scores| scores.get(*category).is_none())
    });
    let together = live.iter().map(|group| {
        let group = if group.group == shadow.group {
            shadow
        } else {
            group
        };
        group.clone()
    });
    let verdict = verdict_on(item, together.collect());
    Ok(Shadowed {
        version,
        status: verdict.status,
        unscored,
    })
}
