//! Backtests: a slice of stored items is judged again, with other rules instead of their group's.
//! Nothing is sent and no provider is asked: the stored texts and scores are used.

use std::time::{Duration, Instant};

use apalis::prelude::BoxDynError;
use queue::Finish;
use store::{
    PgPool,
    backtest::{
        Backtest, Change,
        slice::{self, Look, Replayed, Slice, ToReplay},
    },
    jobs::BacktestJob,
};
use tokio::time::timeout;

use crate::{
    chains::{ChainWorker, SliceEnd},
    findings::{verdict_on, wanted},
    job_retries::later,
    rule_group_cache::{Compiled, Key, PATIENCE},
    rule_pool::{Instead, RulePool},
};

/// After this time, a run begins no further item of its slice. So slices are shorter when the rules
/// are costly.
const SLICE_TIME: Duration = Duration::from_secs(20);
/// How long a backtest pauses after it has waited too long for its rules or its turn.
const CROWDED: Duration = Duration::from_secs(1);

/// What a backtest needs.
#[derive(Clone)]
pub(crate) struct Replayer {
    rule_pool: RulePool,
    pool: PgPool,
}

impl Replayer {
    /// Judges with `rule_pool`.
    pub(crate) fn new(pool: PgPool, rule_pool: RulePool) -> Self {
        Self { rule_pool, pool }
    }
}

impl ChainWorker for Replayer {
    type Chain = Backtest;
    type Found = Replayed;

    async fn next(&self, job: BacktestJob) -> SliceEnd<Replayed> {
        replay(self, job).await
    }
}

async fn replay(worker: &Replayer, job: BacktestJob) -> SliceEnd<Replayed> {
    let Some(slice) = slice::next(&worker.pool, job.backtest).await? else {
        return Ok(Finish::Done(None));
    };
    let tried = Key::Backtest(job.backtest);
    let compiling = worker.rule_pool.groups().compiled(slice.team, tried);
    let group = match timeout(PATIENCE, compiling).await {
        Ok(Ok(Compiled::Ready(group))) => group.group(),
        Ok(Ok(Compiled::TooHeavy(_))) => return Err("the rules are too heavy to judge".into()),
        Ok(Err(error)) => return Err(error),
        Err(_) => return Ok(later(CROWDED)),
    };
    let instead = Instead { group, by: tried };
    let started = Instant::now();
    let mut replayed = Replayed::new(&slice);
    for (number, item) in slice.items.iter().enumerate() {
        let patience = PATIENCE.saturating_sub(started.elapsed());
        let Ok(looked) = timeout(patience, look(worker, &slice, item, instead)).await else {
            // The backtest did not cause the wait, so it is not charged an attempt.
            let Some(before) = number.checked_sub(1) else {
                return Ok(later(CROWDED));
            };
            replayed.end_with(slice.items[before].item.media);
            break;
        };
        replayed.add(looked?);
        if started.elapsed() > SLICE_TIME && number + 1 < slice.items.len() {
            replayed.end_with(item.item.media);
            break;
        }
    }
    Ok(Finish::Done(Some(replayed)))
}

async fn look(
    worker: &Replayer,
    slice: &Slice,
    replayed: &ToReplay,
    instead: Instead,
) -> Result<Look, BoxDynError> {
    if !replayed.of_group && !slice.joins {
        return Ok(Look::OfOtherGroups);
    }
    let Some(old) = replayed.old else {
        return Ok(Look::Undecided);
    };
    let item = &replayed.item;
    if item.text.is_none() && !item.has_image {
        return Ok(Look::WithoutContent);
    }
    let versions = &item.group_versions;
    let examining = worker
        .rule_pool
        .examine(slice.team, item, versions, Some(instead));
    let examined = examining.await?;
    if !replayed.analysed && !wanted(&examined).is_empty() {
        return Ok(Look::WithoutScores);
    }
    let verdict = verdict_on(item, examined);
    Ok(Look::Judged(Change {
        media: item.media,
        old,
        new: verdict.status,
        decided: replayed.decided,
        rules: verdict.violations.iter().map(|v| v.rule_id).collect(),
    }))
}
