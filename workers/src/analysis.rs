//! The analysis step. The text and the image are analysed separately. Each goes to the first
//! available provider in its site's order of preference. The next provider is asked when the first
//! one is paused or has failed permanently, and for categories that the first one cannot score. At
//! the end, the higher score of text and image counts. The rules then judge the item in the same
//! run if they can do so at once.

mod answer_cache;
mod chunked_requests;
mod item_image;
mod modality_analysis;
mod provider_fallback;
mod sample_text;
#[cfg(test)]
mod tests;

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use domain::id::MediaId;
use futures::{FutureExt as _, future::try_join_all};
use queue::{Checkpoint, Finish, Run};
use store::{
    PgPool,
    analysis::{self, Analysed, ToAnalyse},
    gather::Loader,
    item_progress::Stage,
    jobs::MediaJob,
    verdict::ToJudge,
    verdict_waiters::VerdictWaiters,
};
use telemetry::trace::Current;
use tokio::time::timeout;
use tracing::warn;

pub use self::sample_text::analyse_sample;
use self::{
    answer_cache::Cache, modality_analysis::ModalityAnalysis, provider_fallback::AskOutcome,
};
use crate::{
    created_event::{CreatedEvent, Ended, Left},
    decode_pool::DecodePool,
    job_retries::{RETRY, RUN_DEADLINE},
    provider::ConfiguredProviders,
    rule_group_cache::{self, Compiled, Key, RuleGroupCache},
    rules::{Reached, Verdicts},
    trace_span::{enter, traced},
};

/// What the analysis step works with.
#[derive(Clone)]
pub struct Analyst {
    media: Loader<MediaId, ToAnalyse>,
    registry: Arc<ConfiguredProviders>,
    groups: RuleGroupCache,
    patience: Duration,
    pool: PgPool,
    decode_pool: DecodePool,
    cache: Cache,
    /// None if this process does not judge.
    verdicts: Option<Verdicts>,
}

impl Analyst {
    /// Asks these providers. Items wait for a paused provider until `patience` after their
    /// acceptance. Of each team, `answers_per_team` answers are kept for equal texts. With
    /// `verdicts`, an item is judged in the same run.
    pub(crate) fn new(
        pool: PgPool,
        registry: Arc<ConfiguredProviders>,
        groups: RuleGroupCache,
        patience: Duration,
        answers_per_team: u32,
        decode_pool: DecodePool,
        verdicts: Option<Verdicts>,
    ) -> Self {
        Self {
            media: analysis::loader(pool.clone()),
            registry,
            groups,
            patience,
            cache: Cache::new(&pool, answers_per_team),
            pool,
            decode_pool,
            verdicts,
        }
    }
}

/// After this time, a run asks no other provider. The rest of the deadline is left for ending it.
const ASKING: Duration = RUN_DEADLINE.saturating_sub(Duration::from_secs(5));
/// How long an item waits that found no room.
const CROWDED: Duration = Duration::from_secs(1);

/// Runs one job. When a provider fails, the job runs again while it has attempts. When a provider
/// is paused, the job waits and is not charged an attempt. Scores found so far are kept. What is
/// still unchecked at the end is recorded, so that the rules and the site's `on_failure` decide.
pub(crate) async fn analyse(
    job: MediaJob,
    analyst: Data<Analyst>,
    run: Run,
    checkpoint: Checkpoint,
    trace: Data<Current>,
    awaited: Data<VerdictWaiters>,
) -> Result<Ended, BoxDynError> {
    let running = Box::pin(async {
        let created_event = CreatedEvent::begin(&job, &run, checkpoint, &awaited).await?;
        let left = analyst.run(&job, &run, &created_event).await;
        created_event.end(left).await
    });
    traced(&trace, &run, job.media, running).await
}

impl Analyst {
    async fn run(
        &self,
        job: &MediaJob,
        run: &Run,
        created_event: &CreatedEvent,
    ) -> Result<Left, BoxDynError> {
        let Some(mut item) = self.media.load(job.media).await? else {
            return Ok(Finish::Done(None));
        };
        enter(item.trace, run);
        let started = Instant::now();
        if item.has_picture {
            let Ok(allows) = timeout(rule_group_cache::PATIENCE, self.allows(&item)).await else {
                return Ok(again(Vec::new(), CROWDED));
            };
            item.has_picture = !allows?;
        }
        let narrow = self.registry.narrow();
        let mut modality_analyses = ModalityAnalysis::of(&item, job.all_scores, &narrow);
        let asking = modality_analyses.iter_mut().map(|modality_analysis| {
            self.ask(&item, modality_analysis, run, created_event, started)
        });
        let courses = try_join_all(asking).await?;

        let mut later = None;
        for course in courses {
            match course {
                AskOutcome::Through => {}
                AskOutcome::Later(delay) => later = later.max(Some(delay)),
                AskOutcome::Failed(error) => {
                    return match ModalityAnalysis::begun(modality_analyses) {
                        // The error is recorded with the job.
                        None => Err(error.into()),
                        effect => Ok(Finish::Again {
                            effect,
                            delay: RETRY.delay(run.attempt),
                            charged: true,
                        }),
                    };
                }
            }
        }
        if let Some(delay) = later {
            return Ok(again(modality_analyses, delay));
        }
        let rest = self.patience.saturating_sub(item.age);
        if let Some(wait) = modality_analyses
            .iter()
            .filter_map(ModalityAnalysis::wait)
            .min()
            && !rest.is_zero()
        {
            // Spread out, so that not all items come back at once.
            let wait = wait.mul_f64(1.0 + 0.2 * rand::random::<f64>()) + Duration::from_millis(20);
            let wait = wait.min(rest);
            self.registry.waits().note(wait);
            return Ok(again(modality_analyses, wait));
        }
        let analysed = ModalityAnalysis::end(&item, modality_analyses);
        let stage = created_event.meanwhile(self.judge_at_once(&item, analysed, started));
        Ok(Finish::Done(Some(stage.await?)))
    }

    /// Whether a rule that needs scores of the image knows the image by an allow list.
    async fn allows(&self, item: &ToAnalyse) -> Result<bool, BoxDynError> {
        if item.image_matches.is_empty() {
            return Ok(false);
        }
        let mut asking = false;
        for version in &item.group_versions {
            match self
                .groups
                .compiled(item.team, Key::Version(*version))
                .await?
            {
                Compiled::Ready(group) if !group.uses_ai() => {}
                Compiled::Ready(group) if group.allows(&item.image_matches) => asking = true,
                // Nobody knows what such a group would decide.
                Compiled::Ready(_) | Compiled::TooHeavy(_) => return Ok(false),
            }
        }
        Ok(asking)
    }
}

/// The same job again. It is not charged an attempt.
fn again(modality_analyses: Vec<ModalityAnalysis<'_>>, delay: Duration) -> Left {
    Finish::Again {
        effect: ModalityAnalysis::begun(modality_analyses),
        delay,
        charged: false,
    }
}

/// How long judging may take in the run of the analysis. What takes longer, or waits longer, gets a job of its own.
const AT_ONCE: Duration = Duration::from_secs(5);

impl Analyst {
    /// Judges an item that was just analysed. If that is not possible now, the analysis is stored,
    /// and the item gets a job in the queue `rules`.
    async fn judge_at_once(&self, item: &ToAnalyse, analysed: Analysed, started: Instant) -> Stage {
        let is_late = started.elapsed() + AT_ONCE > ASKING;
        let verdicts = self.verdicts.as_ref();
        let Some(verdicts) = verdicts.filter(|_| !item.rules_are_held && !is_late) else {
            return kept(analysed, Duration::ZERO);
        };
        let to_judge = Arc::new(ToJudge::analysed(item, &analysed));
        let judging = AssertUnwindSafe(verdicts.reach(&to_judge, started)).catch_unwind();
        match timeout(AT_ONCE, judging).await {
            Ok(Ok(Ok(Reached::Verdict(concluded)))) => Stage::Judged {
                analysed: Some(analysed),
                concluded,
            },
            Ok(Ok(Ok(Reached::Later(wait)))) => kept(analysed, wait),
            Ok(Ok(Err(error))) => {
                warn!(media.id = %item.media, %error, "could not judge an item in the run of its analysis; it gets a job in the queue `rules`");
                kept(analysed, Duration::ZERO)
            }
            Ok(Err(_)) => {
                warn!(media.id = %item.media, "judging an item in the run of its analysis panicked; it gets a job in the queue `rules`");
                kept(analysed, Duration::ZERO)
            }
            // A job of its own has more time for the rules.
            Err(_) => kept(analysed, Duration::ZERO),
        }
    }
}

/// The analysis is stored, and the item waits this long for the rules.
fn kept(analysed: Analysed, wait: Duration) -> Stage {
    Stage::Analysed { analysed, wait }
}
