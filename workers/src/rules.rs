//! The rules step. The rule versions that were live when the item was accepted examine it, and the
//! domain decides. Shadows judge it as well, without effect.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use domain::{
    decision::{Trace, Unchecked},
    id::{GroupVersionId, MediaId},
    media::ModerationType,
};
use futures::FutureExt as _;
use metrics::{Counter, counter};
use queue::{Checkpoint, Finish, Run};
use store::{
    PgPool,
    gather::Loader,
    item_progress::Stage,
    jobs::MediaJob,
    rule_group::shadow::Shadowed,
    verdict::{self, Concluded, ToJudge},
    verdict_waiters::VerdictWaiters,
};
use telemetry::{RepeatedFailure, failed, over, trace::Current};
use tokio::time::{self, timeout, timeout_at};

use crate::{
    created_event::{CreatedEvent, Ended, Left},
    findings::{GroupFindings, verdict_on},
    job_retries::later,
    judging_slots::JudgingSlots,
    rule_group_cache::PATIENCE,
    rule_pool::RulePool,
    trace_span::{enter, traced},
};

/// How long an item pauses after it has waited too long for its rules or its turn.
const CROWDED: Duration = Duration::from_secs(1);

/// What the judging step works with.
#[derive(Clone)]
pub(crate) struct Judge {
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
            Reached::Later(delay) => later(delay),
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
        let shadows = judge_shadows(item, &examined, &self.rule_pool).await;
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

/// Shadows that could not judge, of the whole process.
static TROUBLE: RepeatedFailure = RepeatedFailure::at_once();

/// The results of the item's shadows: for each, the item is judged once more with another version of one group, while all
/// other groups stay as they are. A shadow that cannot judge has no result, and never changes the verdict.
async fn judge_shadows(
    item: &Arc<ToJudge>,
    live: &[GroupFindings],
    rule_pool: &RulePool,
) -> Vec<Shadowed> {
    let end = time::Instant::now() + PATIENCE / 2;
    let mut shadowed = Vec::with_capacity(item.shadows.len());
    for version in &item.shadows {
        // A panic would fail the job and lose the verdict.
        let judging = judge_shadow(item, live, rule_pool, *version);
        let judging = AssertUnwindSafe(judging).catch_unwind();
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

async fn judge_shadow(
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

#[cfg(test)]
use {crate::judging_slots::JudgingSlot, domain::id::TeamId};
