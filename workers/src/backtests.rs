//! Replay: a slice of stored items is judged again, with other rules in the place of their group's. Nothing is sent and
//! nobody is asked: texts and scores are those that are stored.

use std::sync::Arc;

use apalis::prelude::{BoxDynError, Data};
use domain::{
    id::{BacktestId, RuleGroupId},
    rules::CompiledGroup,
};
use quick_cache::sync::Cache;
use store::{
    PgPool,
    backtest::{
        Change,
        slice::{self, Look, Replayed, Slice, ToReplay},
    },
    jobs::BacktestJob,
};
use tokio::task::block_in_place;

use crate::{
    groups::{Groups, compile},
    rules::{verdict_on, wanted},
};

/// Backtests whose rules are kept compiled; more than that rarely run at once.
const KEPT: usize = 8;

/// What replaying works with.
#[derive(Clone)]
pub struct Replayer {
    groups: Groups,
    /// What a backtest replays never changes.
    tried: Arc<Cache<BacktestId, Arc<CompiledGroup>>>,
    pool: PgPool,
}

impl Replayer {
    /// A replayer who has replayed nothing yet.
    pub(crate) fn new(pool: PgPool, groups: Groups) -> Self {
        Self {
            groups,
            tried: Arc::new(Cache::new(KEPT)),
            pool,
        }
    }

    async fn tried(&self, backtest: BacktestId) -> Result<Arc<CompiledGroup>, BoxDynError> {
        let load = async {
            let replay = slice::rules(&self.pool, backtest).await?;
            let replay = replay.ok_or("there is no such backtest")?;
            compile(replay.group, replay.version, replay.rules).await
        };
        self.tried.get_or_insert_async(&backtest, load).await
    }

    /// What judges an item: its groups, with the tried one in the place of its own. None: the tried one does not judge it.
    async fn judges(
        &self,
        replayed: &ToReplay,
        tried: &Arc<CompiledGroup>,
        joins: bool,
    ) -> Result<Option<Vec<Arc<CompiledGroup>>>, BoxDynError> {
        if !replayed.of_group && !joins {
            return Ok(None);
        }
        let mut groups = self.groups.versions(&replayed.item.group_versions).await?;
        let group: RuleGroupId = tried.group();
        match groups.iter_mut().find(|own| own.group() == group) {
            Some(own) => *own = Arc::clone(tried),
            None => groups.push(Arc::clone(tried)),
        }
        Ok(Some(groups))
    }
}

/// Runs one job: one slice. The effect enqueues the next one.
pub(crate) async fn replay(
    job: BacktestJob,
    worker: Data<Replayer>,
) -> Result<Option<Replayed>, BoxDynError> {
    let Some(slice) = slice::next(&worker.pool, job.backtest).await? else {
        return Ok(None);
    };
    let tried = worker.tried(job.backtest).await?;
    let mut replayed = Replayed::new(&slice);
    for item in &slice.items {
        replayed.add(look(&worker, &slice, item, &tried).await?);
    }
    Ok(Some(replayed))
}

async fn look(
    worker: &Replayer,
    slice: &Slice,
    replayed: &ToReplay,
    tried: &Arc<CompiledGroup>,
) -> Result<Look, BoxDynError> {
    let Some(groups) = worker.judges(replayed, tried, slice.joins).await? else {
        return Ok(Look::OfOtherGroups);
    };
    let Some(old) = replayed.old else {
        return Ok(Look::Undecided);
    };
    let item = &replayed.item;
    if item.text.is_none() && !item.has_image {
        return Ok(Look::WithoutContent);
    }
    if !replayed.analysed && !wanted(&groups).is_empty() {
        return Ok(Look::WithoutScores);
    }
    let verdict = block_in_place(|| verdict_on(item, &groups));
    Ok(Look::Judged(Change {
        media: item.media,
        old,
        new: verdict.status,
        decided: replayed.decided,
        rules: verdict.violations.iter().map(|v| v.rule_id).collect(),
    }))
}
