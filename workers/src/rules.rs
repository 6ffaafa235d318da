//! Judge: the rule versions that were live at the item's acceptance examine it, and the domain decides. Shadows judge it
//! beside them, without effect.

mod shadow;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use domain::{
    decision::{Findings, Judged, Part, Trace, Unchecked, Verdict, decide},
    id::{MediaId, RuleGroupId},
    media::ModerationType,
    rules::{Content, Violation},
    score::Category,
};
use metrics::{Counter, counter};
use queue::{Checkpoint, Finish, Run};
use store::{
    PgPool,
    gather::Loader,
    jobs::MediaJob,
    progress::Stage,
    verdict::{self, Concluded, ToJudge},
};
use tokio::time::timeout;

use crate::{
    groups::{Compiled, PATIENCE},
    judges::Judges,
    places::Places,
    telling::{Ended, Left, Telling},
};

/// How long an item is put back that has waited too long for its rules or its turn.
const CROWDED: Duration = Duration::from_secs(1);

/// What the judging step works with.
#[derive(Clone)]
pub struct Judge {
    media: Loader<MediaId, ToJudge>,
    verdicts: Verdicts,
}

impl Judge {
    /// A judge who reaches verdicts like this.
    pub(crate) fn new(pool: PgPool, verdicts: Verdicts) -> Self {
        Self {
            media: verdict::loader(pool),
            verdicts,
        }
    }

    async fn run(&self, media: MediaId, telling: &Telling) -> Result<Left, BoxDynError> {
        let Some(item) = self.media.load(media).await? else {
            return Ok(Finish::Done(None));
        };
        let (item, loaded) = (Arc::new(item), Instant::now());
        let reached = telling.meanwhile(self.verdicts.reach(&item, loaded));
        Ok(match reached.await?? {
            Reached::Verdict(concluded) => Finish::Done(Some(Stage::Judged {
                analysed: None,
                concluded,
            })),
            // Whoever made the item wait, it was not the item itself: no attempt is charged.
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
) -> Result<Ended, BoxDynError> {
    let telling = Telling::begin(&job, &run, checkpoint).await?;
    let left = judge.run(job.media, &telling).await;
    telling.end(left).await
}

/// Reaches verdicts on items, on so many at once. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Verdicts {
    judges: Judges,
    places: Places,
}

/// What comes of an item before its judges.
pub(crate) enum Reached {
    /// A verdict.
    Verdict(Concluded),
    /// Its rules or its turn are not to be had. It may come again in so long.
    Later(Duration),
}

impl Verdicts {
    /// Verdicts by these judges. No more items than `concurrency` are worked on at once.
    pub(crate) fn new(judges: Judges, concurrency: usize) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first item has no increase then.
        for what in UNCHECKED {
            unchecked(what).increment(0);
        }
        verdict::expect_none(&[ModerationType::Ai, ModerationType::Rule]);
        Self {
            judges,
            places: Places::new(concurrency),
        }
    }

    /// A place that a test keeps to itself.
    #[cfg(test)]
    pub(crate) async fn take_place(&self, team: TeamId) -> Result<Place, Duration> {
        self.places.take(team).await
    }

    /// Judges an item that was loaded then.
    pub(crate) async fn reach(
        &self,
        item: &Arc<ToJudge>,
        loaded: Instant,
    ) -> Result<Reached, BoxDynError> {
        let _place = match self.places.take(item.team).await {
            Ok(place) => place,
            Err(delay) => return Ok(Reached::Later(delay)),
        };
        let examining = self
            .judges
            .examine(item.team, item, &item.group_versions, None);
        let Ok(examined) = timeout(PATIENCE, examining).await else {
            return Ok(Reached::Later(CROWDED));
        };
        let examined = examined?;
        let shadows = shadow::judge(item, &examined, &self.judges).await;
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

/// What one group found in an item.
#[derive(Clone, Debug)]
pub(crate) struct Examined {
    pub(crate) group: RuleGroupId,
    /// The categories that it asks for.
    pub(crate) categories: Vec<Category>,
    /// Absent: it could not judge.
    judged: Option<Judged>,
    violations: Vec<Violation>,
    examines_text: bool,
    recognises: bool,
    unchecked: Option<Unchecked>,
}

impl Examined {
    /// Has a group examine an item.
    pub(crate) fn of(item: &ToJudge, group: &Compiled) -> Self {
        let group = match group {
            Compiled::Ready(group) => group,
            Compiled::TooHeavy(heavy) => {
                return Self {
                    group: heavy.group,
                    categories: Vec::new(),
                    judged: None,
                    violations: Vec::new(),
                    examines_text: false,
                    recognises: false,
                    unchecked: Some(heavy.unchecked()),
                };
            }
        };
        let begun = Instant::now();
        let violations = group.examine(&Content {
            text: item.text.as_deref(),
            scores: &item.scores.unwrap_or_default(),
            image_matches: &item.image_matches,
        });
        Self {
            group: group.group(),
            categories: group.categories().to_vec(),
            judged: Some(Judged {
                group: group.group(),
                version: group.version(),
                micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            }),
            violations,
            examines_text: group.examines_text(),
            recognises: group.recognises(&item.image_matches),
            unchecked: None,
        }
    }
}

/// What these groups mean for the item.
pub(crate) fn verdict_on(item: &ToJudge, examined: Vec<Examined>) -> Verdict {
    let wanted = wanted(&examined);
    decide(findings(item, examined, &wanted))
}

/// The categories that these groups ask for.
pub(crate) fn wanted(examined: &[Examined]) -> Vec<Category> {
    Category::ALL
        .into_iter()
        .filter(|category| {
            examined
                .iter()
                .any(|group| group.categories.contains(category))
        })
        .collect()
}

/// What may be counted as unchecked: what a decision's trace tells, and a wanted category that nothing could score.
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

/// Counts what was not checked of an item; each kind once.
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

fn findings<'a>(
    item: &'a ToJudge,
    examined: Vec<Examined>,
    wanted: &'a [Category],
) -> Findings<'a> {
    let text_examined = item.scores.is_some() || examined.iter().any(|group| group.examines_text);
    let recognised = examined.iter().any(|group| group.recognises);
    let mut unchecked = item.unchecked.clone();
    let mut groups = Vec::with_capacity(examined.len());
    let mut violations = Vec::new();
    for group in examined {
        groups.extend(group.judged);
        violations.extend(group.violations);
        unchecked.extend(group.unchecked);
    }
    Findings {
        groups,
        violations,
        scores: item.scores,
        wanted,
        gaps: &item.gaps,
        text: match (&item.text, text_examined) {
            (None, _) => Part::Absent,
            (Some(_), true) => Part::Examined,
            (Some(_), false) => Part::Unexamined,
        },
        // That an image is on no list says nothing about it.
        image: match (item.has_image, item.image_scored || recognised) {
            (false, _) => Part::Absent,
            (true, true) => Part::Examined,
            (true, false) => Part::Unexamined,
        },
        unchecked,
        on_failure: item.on_failure,
    }
}

#[cfg(test)]
use {crate::places::Place, domain::id::TeamId};

#[cfg(test)]
mod tests;
