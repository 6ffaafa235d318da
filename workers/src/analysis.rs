//! Analyse: the text and the image, each goes to the first provider of its site's preference that is to be had and looks at such.
//! The next one is asked when that one has failed for good or is paused, and for what it cannot score. What is found of the two is
//! kept apart until the end, where the higher score counts.

mod inquiry;
mod sample;
mod sight;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use domain::{id::MediaId, media::Modality, score::Category};
use futures::future::try_join_all;
use queue::{Finish, Run};
use store::{
    PgPool,
    analysis::{self, Progress, ToAnalyse},
    gather::Loader,
    jobs::MediaJob,
};
use tokio::time::timeout;
use tracing::warn;

pub use self::sample::analyse_sample;
use self::{
    inquiry::Inquiry,
    sight::{Sight, Unseen},
};
use crate::{
    RETRY, RUN_DEADLINE,
    darkroom::Darkroom,
    groups::{self, Compiled, Groups, Key},
    provider::{Content, Panel, Question, Reply, Turn},
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
}

impl Analyst {
    /// An analyst who asks these providers. Items wait `patience`, from their acceptance, for one that is paused.
    pub(crate) fn new(
        pool: PgPool,
        panel: Arc<Panel>,
        groups: Groups,
        patience: Duration,
        darkroom: Darkroom,
    ) -> Self {
        Self {
            media: analysis::loader(pool.clone()),
            panel,
            groups,
            patience,
            pool,
            darkroom,
        }
    }
}

/// How long a run goes on asking: what it takes to ask, wait and end comes on top.
const ASKING: Duration = RUN_DEADLINE.saturating_sub(Duration::from_secs(5));
/// How long an item stays away for which there was no room.
const CROWDED: Duration = Duration::from_secs(1);

/// What a run leaves behind.
type Ended = Finish<Option<Progress>>;

/// How far a run came with one modality.
enum Course {
    /// Everybody was asked who is to be had.
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
) -> Result<Ended, BoxDynError> {
    let Some(mut item) = analyst.media.load(job.media).await? else {
        return Ok(Finish::Done(None));
    };
    if item.has_picture {
        let Ok(allows) = timeout(groups::PATIENCE, analyst.allows(&item)).await else {
            return Ok(again(Vec::new(), CROWDED));
        };
        item.has_picture = !allows?;
    }
    let started = Instant::now();
    let mut inquiries = Inquiry::of(&item);
    let asking = inquiries
        .iter_mut()
        .map(|inquiry| analyst.ask(&item, inquiry, &run, started));
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
    let rest = analyst.patience.saturating_sub(item.age);
    if let Some(wait) = inquiries.iter().filter_map(Inquiry::wait).min()
        && !rest.is_zero()
    {
        // Not all at once.
        let wait = wait.mul_f64(1.0 + 0.2 * rand::random::<f64>()) + Duration::from_millis(20);
        return Ok(again(inquiries, wait.min(rest)));
    }
    let done = Inquiry::end(&item, inquiries);
    Ok(Finish::Done(Some(Progress::Done(done))))
}

impl Analyst {
    /// Whether whoever would ask providers about the image knows it, and has it on an allow list.
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
        started: Instant,
    ) -> Result<Course, BoxDynError> {
        let modality = inquiry.modality();
        let mut sight = Sight::new(item.media, item.team, &self.pool, &self.darkroom);
        for name in preference(item, &self.panel) {
            let missing = inquiry.missing();
            if missing.is_empty() {
                break;
            }
            let Some(desk) = self.panel.find(name) else {
                inquiry.unknown(name);
                continue;
            };
            let can = desk.profile().scope.of(modality);
            let categories = both(can, &missing);
            if categories.is_empty() || inquiry.has_asked(name, can) {
                continue;
            }
            if inquiry.is_begun() && started.elapsed() + desk.deadline() > ASKING {
                return Ok(Course::Later(Duration::ZERO));
            }
            if modality == Modality::Image && !sight.has_room().await {
                return Ok(Course::Later(CROWDED));
            }
            let seat = match desk.turn().await? {
                Turn::Open(seat) => seat,
                Turn::Paused(wait) => {
                    inquiry.paused(name, can, wait);
                    continue;
                }
            };
            let rendition;
            let content = match (modality, desk.profile().limits, item.text.as_deref()) {
                (Modality::Text, _, Some(text)) => Content::Text(text),
                (Modality::Image, Some(limits), _) => match sight.within(limits).await? {
                    Ok(image) => {
                        rendition = image;
                        Content::Image(&rendition)
                    }
                    Err(Unseen::Gone) => break,
                    Err(Unseen::Problem(problem)) => {
                        warn!(media.id = %item.media, provider = name, ?problem, "an image cannot be shown to a provider");
                        inquiry.unseen(problem, can);
                        continue;
                    }
                },
                // Neither is asked about.
                (Modality::Text, _, None) | (Modality::Image, None, _) => break,
            };
            let question = Question {
                content,
                categories: &categories,
                policy: item.policy.as_deref(),
            };
            match seat.ask(question).await {
                Reply::Said(answer, elapsed) => inquiry.said(name, answer, elapsed),
                Reply::Paused(wait) => inquiry.paused(name, can, wait),
                Reply::Failed(error, _) if error.is_passing() && !run.is_last_attempt() => {
                    return Ok(Course::Failed(format!("{name}: {error}")));
                }
                Reply::Failed(error, elapsed) => {
                    warn!(media.id = %item.media, provider = name, %modality, %error, "a provider failed for good");
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

/// The same job again, which is no attempt.
fn again(inquiries: Vec<Inquiry<'_>>, delay: Duration) -> Ended {
    Finish::Again {
        effect: Inquiry::begun(inquiries),
        delay,
        charged: false,
    }
}
