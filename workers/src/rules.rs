//! The rules step. The rule versions that were live when the item was accepted examine it, and the
//! domain decides. Shadows judge it as well, without effect.

mod shadow;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use domain::{
    decision::{Trace, Unchecked},
    id::MediaId,
    media::ModerationType,
};
use metrics::{Counter, counter};
use queue::{Checkpoint, Finish, Run};
use store::{
    PgPool,
    gather::Loader,
    item_progress::Stage,
    jobs::MediaJob,
    verdict::{self, Concluded, ToJudge},
    verdict_waiters::VerdictWaiters,
};
use telemetry::trace::Current;
use tokio::time::timeout;

use crate::{
    created_event::{CreatedEvent, Ended, Left},
    findings::verdict_on,
    judging_slots::JudgingSlots,
    rule_group_cache::PATIENCE,
    rule_pool::RulePool,
    trace_span::{enter, traced},
};

/// How long an item pauses after it has waited too long for its rules or its turn.
const CROWDED: Duration = Duration::from_secs(1);

/// What the judging step works with.
#[derive(Clone)]
pub struct Judge {
    media: Loader<MediaId, ToJudge>,
    verdicts: Verdicts,
}

impl Judge {
    /// Judges items with `verdicts`.
    pub(crate) fn new(pool: PgPool, verdicts: Verdicts) -> Self {
        Self {
            media: verdict::loader(pool),
            verdicts,
        }
    }

    async fn run(
        &self,
        media: MediaId,
        run: &Run,
        created_event: &CreatedEvent,
    ) -> Result<Left, BoxDynError> {
        let Some(item) = self.media.load(media).await? else {
            return Ok(Finish::Done(None));
        };
        enter(item.trace, run);
        let (item, loaded) = (Arc::new(item), Instant::now());
        let reached = created_event.meanwhile(self.verdicts.reach(&item, loaded));
        Ok(match reached.await?? {
            Reached::Verdict(concluded) => Finish::Done(Some(Stage::Judged {
                analysed: None,
                concluded,
            })),
            // The item did not cause the wait, so it is not charged an attempt.
            Reached::Later(delay) => Finish::Again {
                effect: None,
                delay,
                charged: false,
            },
        })
    }
}

/// Runs one job.
pub(crate) async fn judge(
    job: MediaJob,
    judge: Data<Judge>,
    run: Run,
    checkpoint: Checkpoint,
    trace: Data<Current>,
    awaited: Data<VerdictWaiters>,
) -> Result<Ended, BoxDynError> {
    let running = async {
        let created_event = CreatedEvent::begin(&job, &run, checkpoint, &awaited).await?;
        let left = judge.run(job.media, &run, &created_event).await;
        created_event.end(left).await
    };
    traced(&trace, &run, job.media, running).await
}

/// Reaches verdicts on a limited number of items at once. Clones share the limit.
#[derive(Clone)]
pub(crate) struct Verdicts {
    rule_pool: RulePool,
    slots: JudgingSlots,
}

/// What happened to an item.
pub(crate) enum Reached {
    /// A verdict.
    Verdict(Concluded),
    /// Its rules or its turn were not available. Try again after this time.
    Later(Duration),
}

impl Verdicts {
    /// Verdicts by this pool, on at most `concurrency` items at once.
    pub(crate) fn new(rule_pool: RulePool, concurrency: usize) -> Self {
        // Set to 0 at the start. Otherwise Prometheus would not see the first increase.
        for what in UNCHECKED {
            unchecked(what).increment(0);
        }
        verdict::expect_none(&[ModerationType::Ai, ModerationType::Rule]);
        Self {
            rule_pool,
            slots: JudgingSlots::new(concurrency),
        }
    }

    /// A place that a test occupies.
    #[cfg(test)]
    pub(crate) async fn take_slot(&self, team: TeamId) -> Result<JudgingSlot, Duration> {
        self.slots.take(team).await
    }

    /// Judges an item that was loaded at this time.
    pub(crate) async fn reach(
        &self,
        item: &Arc<ToJudge>,
        loaded: Instant,
    ) -> Result<Reached, BoxDynError> {
        let _place = match self.slots.take(item.team).await {
            Ok(place) => place,
            Err(delay) => return Ok(Reached::Later(delay)),
        };
        let examining = self
            .rule_pool
            .examine(item.team, item, &item.group_versions, None);
        let Ok(examined) = timeout(PATIENCE, examining).await else {
            return Ok(Reached::Later(CROWDED));
        };
        let examined = examined?;
        let shadows = shadow::judge(item, &examined, &self.rule_pool).await;
        let verdict = verdict_on(item, examined);
        let processing_time_ms =
            item.age_ms + u64::try_from(loaded.elapsed().as_millis()).unwrap_or(0);
        let concluded = Concluded {
            media: item.media,
            status: verdict.status,
            moderation_type: verdict.moderation_type,
            details: serde_json::to_string(&verdict.details(Some(processing_time_ms)))?,
            trace: serde_json::to_string(&verdict.trace)?,
            shadows,
        };
        count_unchecked(&verdict.trace);
        Ok(Reached::Verdict(concluded))
    }
}

/// The kinds of things that are counted as unchecked: those of a decision's trace, and a wanted
/// category without a score.
const UNCHECKED: [&str; 9] = [
    "provider_failed",
    "categories_not_scored",
    "image_not_analysed",
    "text_not_scored",
    "image_not_scored",
    "text_not_examined",
    "image_not_examined",
    "rules_too_heavy",
    CATEGORY_NOT_SCORED,
];
const CATEGORY_NOT_SCORED: &str = "category_not_scored";

/// Counts what was not checked in an item, each kind once.
fn count_unchecked(trace: &Trace) {
    let mut kinds: Vec<&'static str> = trace.unchecked.iter().map(Unchecked::what).collect();
    if !trace.unscored.is_empty() {
        kinds.push(CATEGORY_NOT_SCORED);
    }
    kinds.sort_unstable();
    kinds.dedup();
    for what in kinds {
        unchecked(what).increment(1);
    }
}

fn unchecked(what: &'static str) -> Counter {
    counter!("gatehouse_unchecked_total", "what" => what)
}

#[cfg(test)]
use {crate::judging_slots::JudgingSlot, domain::id::TeamId};
