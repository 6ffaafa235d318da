//! Judge: the rule versions that were live at the item's acceptance examine it, and the domain decides. Shadows judge it
//! beside them, without effect.

mod shadow;

use std::{sync::Arc, time::Instant};

use apalis::prelude::{BoxDynError, Data};
use domain::{
    decision::{Findings, Judged, Part, Trace, Unchecked, Verdict, decide},
    id::MediaId,
    rules::{CompiledGroup, Content},
    score::{Category, Scores},
};
use metrics::{Counter, counter};
use store::{
    PgPool,
    gather::Loader,
    jobs::MediaJob,
    verdict::{self, Concluded, ToJudge},
};
use tokio::task::block_in_place;

use crate::groups::Groups;

/// What the judging step works with.
#[derive(Clone)]
pub struct Judge {
    media: Loader<MediaId, ToJudge>,
    groups: Groups,
}

impl Judge {
    /// A judge who judges by these groups.
    pub(crate) fn new(pool: PgPool, groups: Groups) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first item has no increase then.
        for what in UNCHECKED {
            unchecked(what).increment(0);
        }
        Self {
            media: verdict::loader(pool),
            groups,
        }
    }
}

/// Runs one job.
pub(crate) async fn judge(
    job: MediaJob,
    judge: Data<Judge>,
) -> Result<Option<Concluded>, BoxDynError> {
    let Some(item) = judge.media.load(job.media).await? else {
        return Ok(None);
    };
    let loaded = Instant::now();
    let groups = judge.groups.versions(&item.group_versions).await?;
    // A long text against thousands of rules takes milliseconds, a hostile one more: other tasks move to other threads.
    let verdict = block_in_place(|| verdict_on(&item, &groups));
    count_unchecked(&verdict.trace);
    let processing_time_ms = item.age_ms + u64::try_from(loaded.elapsed().as_millis()).unwrap_or(0);
    Ok(Some(Concluded {
        media: item.media,
        status: verdict.status,
        moderation_type: verdict.moderation_type,
        details: serde_json::to_string(&verdict.details(Some(processing_time_ms)))?,
        trace: serde_json::to_string(&verdict.trace)?,
        shadows: shadow::judge(&item, &groups, &judge.groups).await,
    }))
}

/// What these groups mean for the item.
pub(crate) fn verdict_on(item: &ToJudge, groups: &[Arc<CompiledGroup>]) -> Verdict {
    decide(findings(item, groups, &wanted(groups)))
}

/// The categories that these groups ask for.
pub(crate) fn wanted(groups: &[Arc<CompiledGroup>]) -> Vec<Category> {
    Category::ALL
        .into_iter()
        .filter(|category| {
            groups
                .iter()
                .any(|group| group.categories().contains(category))
        })
        .collect()
}

/// What may be counted as unchecked: what a decision's trace tells, and a wanted category that nothing could score.
const UNCHECKED: [&str; 7] = [
    "provider_failed",
    "image_not_analysed",
    "text_not_scored",
    "image_not_scored",
    "text_not_examined",
    "image_not_examined",
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
    item: &ToJudge,
    groups: &[Arc<CompiledGroup>],
    wanted: &'a [Category],
) -> Findings<'a> {
    let none = Scores::default();
    let content = Content {
        text: item.text.as_deref(),
        scores: item.scores.as_ref().unwrap_or(&none),
        image_matches: &item.image_matches,
    };
    let mut violations = Vec::new();
    let judged = |group: &Arc<CompiledGroup>| {
        let begun = Instant::now();
        violations.extend(group.examine(&content));
        Judged {
            group: group.group(),
            version: group.version(),
            micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
    };
    let judged = groups.iter().map(judged).collect();
    let text_examined = item.scores.is_some() || groups.iter().any(|group| group.examines_text());
    let recognised = groups
        .iter()
        .any(|group| group.recognises(&item.image_matches));
    Findings {
        groups: judged,
        violations,
        scores: item.scores,
        wanted,
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
        unchecked: item.unchecked.clone(),
        on_failure: item.on_failure,
    }
}

#[cfg(test)]
mod tests;
