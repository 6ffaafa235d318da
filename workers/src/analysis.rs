//! Analyse: the text and the image, each goes to the first available provider in its site's order of preference that supports it.
//! The next one is asked when that one has failed for good or is paused, and for what it cannot score. What is found of the two is
//! kept apart until the end, where the higher score counts. When all is found, the rules judge the item in the same run, if they
//! can do so now.

mod cache;
mod inquiry;
mod pieces;
mod sample;
mod sight;

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use domain::{id::MediaId, media::Modality, score::Category};
use futures::{FutureExt as _, future::try_join_all};
use queue::{Checkpoint, Finish, Run};
use store::{
    PgPool,
    analysis::{self, Analysed, ToAnalyse},
    gather::Loader,
    jobs::MediaJob,
    progress::Stage,
    verdict::ToJudge,
};
use tokio::time::timeout;
use tracing::warn;

pub use self::sample::analyse_sample;
use self::{
    cache::{Cache, Found},
    inquiry::Inquiry,
    pieces::{Asked, Pieces, Shown},
    sight::{Sight, Unseen},
};
use crate::{
    RETRY, RUN_DEADLINE,
    darkroom::Darkroom,
    groups::{self, Compiled, Groups, Key},
    provider::{Guarded, Panel},
    rules::{Reached, Verdicts},
    telling::{Ended, Left, Telling},
};

/// What the analysis step works with.
#[derive(Clone)]
pub struct Analyst {
    media: Loader<MediaId, ToAnalyse>,
    panel: Arc<Panel>,
    groups: Groups,
    patience: Duration,
    pool: PgPool,
    darkroom: Darkroom,
    cache: Cache,
    /// None where this process is not to judge.
    verdicts: Option<Verdicts>,
}

impl Analyst {
    /// An analyst who asks these providers. Items wait `patience`, from their acceptance, for one that is paused. A team may have so many
    /// answers kept for equal texts. What is analysed is judged at once, if this process judges at all.
    pub(crate) fn new(
        pool: PgPool,
        panel: Arc<Panel>,
        groups: Groups,
        patience: Duration,
        answers_per_team: u32,
        darkroom: Darkroom,
        verdicts: Option<Verdicts>,
    ) -> Self {
        Self {
            media: analysis::loader(pool.clone()),
            panel,
            groups,
            patience,
            cache: Cache::new(&pool, answers_per_team),
            pool,
            darkroom,
            verdicts,
        }
    }
}

/// How long a run goes on asking: what it takes to ask, wait and end comes on top.
const ASKING: Duration = RUN_DEADLINE.saturating_sub(Duration::from_secs(5));
/// How long an item stays away for which there was no room.
const CROWDED: Duration = Duration::from_secs(1);

/// How long judging may take in the run of the analysis. What takes longer, or waits longer, gets a job of its own.
const AT_ONCE: Duration = Duration::from_secs(5);

/// How far a run came with one modality.
enum Course {
    /// All available providers were asked.
    Through,
    /// The next run, which is to begin in so long, has time or room for the rest.
    Later(Duration),
    /// A provider failed in a way that may pass.
    Failed(String),
}

/// Runs one job. A provider that fails makes it run again, as long as it has attempts; one that is paused makes it wait, and
/// that is no attempt. What was found is kept meanwhile. What remains unchecked in the end is noted, so that the rules and
/// the site's `on_failure` decide.
pub(crate) async fn analyse(
    job: MediaJob,
    analyst: Data<Analyst>,
    run: Run,
    checkpoint: Checkpoint,
) -> Result<Ended, BoxDynError> {
    let telling = Telling::begin(&job, &run, checkpoint).await?;
    let left = analyst.run(job.media, &run, &telling).await;
    telling.end(left).await
}

impl Analyst {
    async fn run(&self, media: MediaId, run: &Run, telling: &Telling) -> Result<Left, BoxDynError> {
        let Some(mut item) = self.media.load(media).await? else {
            return Ok(Finish::Done(None));
        };
        let started = Instant::now();
        if item.has_picture {
            let Ok(allows) = timeout(groups::PATIENCE, self.allows(&item)).await else {
                return Ok(again(Vec::new(), CROWDED));
            };
            item.has_picture = !allows?;
        }
        let mut inquiries = Inquiry::of(&item);
        let asking = inquiries
            .iter_mut()
            .map(|inquiry| self.ask(&item, inquiry, run, telling, started));
        let courses = try_join_all(asking).await?;

        let mut later = None;
        for course in courses {
            match course {
                Course::Through => {}
                Course::Later(delay) => later = later.max(Some(delay)),
                Course::Failed(error) => {
                    return match Inquiry::begun(inquiries) {
                        // What failed stands with the job.
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
            return Ok(again(inquiries, delay));
        }
        let rest = self.patience.saturating_sub(item.age);
        if let Some(wait) = inquiries.iter().filter_map(Inquiry::wait).min()
            && !rest.is_zero()
        {
            // Not all at once.
            let wait = wait.mul_f64(1.0 + 0.2 * rand::random::<f64>()) + Duration::from_millis(20);
            return Ok(again(inquiries, wait.min(rest)));
        }
        let analysed = Inquiry::end(&item, inquiries);
        let stage = telling.meanwhile(self.judge_at_once(&item, analysed, started));
        Ok(Finish::Done(Some(stage.await?)))
    }

    /// Judges an item that was just analysed. Whenever that cannot be done now, the analysis is kept, and the item gets a job of
    /// the rules.
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
            // The rules have a job's time.
            Err(_) => kept(analysed, Duration::ZERO),
        }
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
                // What such a group would say nobody knows.
                Compiled::Ready(_) | Compiled::TooHeavy(_) => return Ok(false),
            }
        }
        Ok(asking)
    }

    /// Asks for what is missing of one modality.
    async fn ask(
        &self,
        item: &ToAnalyse,
        inquiry: &mut Inquiry<'_>,
        run: &Run,
        telling: &Telling,
        started: Instant,
    ) -> Result<Course, BoxDynError> {
        let modality = inquiry.modality();
        let mut sight = Sight::new(item.media, item.team, &self.pool, &self.darkroom);
        for name in preference(item, &self.panel) {
            let missing = inquiry.missing();
            if missing.is_empty() {
                break;
            }
            let Some(provider) = self.panel.find(name) else {
                inquiry.unknown(name);
                continue;
            };
            let can = provider.profile().scope.of(modality);
            let categories = both(can, &missing);
            if categories.is_empty() || inquiry.has_asked(name, can) {
                continue;
            }
            let asking = match modality {
                Modality::Text => self.cache.asking(item, provider, &categories),
                Modality::Image => None,
            };
            if let Some(asking) = &asking
                && let Some(found) = asking.find(provider).await
            {
                let Found {
                    answer,
                    elapsed,
                    media,
                } = found;
                inquiry.said_before(name, &categories, answer, elapsed, media);
                continue;
            }
            if inquiry.is_begun() && started.elapsed() + provider.deadline() > ASKING {
                return Ok(Course::Later(Duration::ZERO));
            }
            if modality == Modality::Image && !sight.has_room().await {
                return Ok(Course::Later(CROWDED));
            }
            if provider.profile().access.is_some() {
                // Whoever is not here may take long, or be paused.
                telling.now().await?;
            }
            let has_time = || started.elapsed() + provider.deadline() <= ASKING;
            let mut unseen = None;
            let asked = match modality {
                Modality::Text => {
                    let text = text_in_pieces(item, provider, &categories, run);
                    let (asked, pieces) = text.show(provider, None, has_time).await?;
                    inquiry.said_in_part(pieces);
                    asked
                }
                Modality::Image => match sight
                    .show(provider, &categories, item, run.is_last_attempt(), has_time)
                    .await?
                {
                    Ok(look) => {
                        inquiry.said_in_part(look.learned);
                        unseen = look.unseen;
                        look.asked
                    }
                    Err(Unseen::Gone) => break,
                    Err(Unseen::Crowded) => return Ok(Course::Later(CROWDED)),
                    Err(Unseen::Problem(problem)) => {
                        warn!(media.id = %item.media, provider = name, ?problem, "an image cannot be sent to a provider");
                        inquiry.unseen(problem, can);
                        continue;
                    }
                },
            };
            match asked {
                Asked::Said(answer, elapsed) => {
                    if let Some(asking) = &asking {
                        asking.keep(&answer, &categories).await;
                    }
                    inquiry.said(name, &categories, answer, elapsed);
                    if let Some(problem) = unseen {
                        warn!(media.id = %item.media, provider = name, ?problem, "part of an image cannot be sent to a provider");
                        inquiry.saw_in_part(problem);
                    }
                }
                Asked::Paused(wait) => inquiry.paused(name, can, wait),
                Asked::OutOfTime => return Ok(Course::Later(Duration::ZERO)),
                Asked::Failed(error, _) if error.is_passing() && !run.is_last_attempt() => {
                    return Ok(Course::Failed(format!("{name}: {error}")));
                }
                Asked::Failed(error, elapsed) => {
                    let (code, cause) = (error.code(), error.cause());
                    warn!(media.id = %item.media, provider = name, %modality, %error, code, cause, "a provider failed permanently for an item");
                    inquiry.failed(name, can, &error, elapsed);
                }
            }
        }
        if modality == Modality::Text && self.panel.names().next().is_none() {
            inquiry.nobody();
        }
        Ok(Course::Through)
    }
}

/// An item's text, as a provider is shown it.
fn text_in_pieces<'a>(
    item: &'a ToAnalyse,
    provider: &Guarded,
    categories: &'a [Category],
    run: &Run,
) -> Pieces<'a> {
    Pieces {
        shown: Shown::text(provider, item.text.as_deref().unwrap_or_default()),
        categories,
        policy: item.policy.as_deref(),
        kept: &item.pieces,
        is_last_attempt: run.is_last_attempt(),
    }
}

/// The names of providers to ask, in order.
fn preference<'a>(item: &'a ToAnalyse, panel: &'a Panel) -> Vec<&'a str> {
    match &item.preferred {
        Some(names) => names.iter().map(String::as_str).collect(),
        None => panel.names().collect(),
    }
}

fn both(some: &[Category], others: &[Category]) -> Vec<Category> {
    let some = some.iter().copied();
    some.filter(|category| others.contains(category)).collect()
}

/// The analysis is kept, and the item waits so long for the rules.
fn kept(analysed: Analysed, wait: Duration) -> Stage {
    Stage::Analysed { analysed, wait }
}

/// The same job again, which is no attempt.
fn again(inquiries: Vec<Inquiry<'_>>, delay: Duration) -> Left {
    Finish::Again {
        effect: Inquiry::begun(inquiries),
        delay,
        charged: false,
    }
}

#[cfg(test)]
mod tests;
