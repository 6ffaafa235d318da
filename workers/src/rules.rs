//! Judge: the rule versions that were live at the item's acceptance examine it, and the domain decides.

use std::{sync::Arc, time::Instant};

use apalis::prelude::{BoxDynError, Data};
use domain::{
    decision::{Findings, Judged, Part, Trace, Unchecked, decide},
    id::{GroupVersionId, MediaId},
    rules::{CompiledGroup, Content},
    score::{Category, Scores},
};
use metrics::{Counter, counter};
use quick_cache::{Weighter, sync::Cache};
use store::{
    PgPool,
    gather::Loader,
    jobs::MediaJob,
    rule_group,
    verdict::{self, Concluded, ToJudge},
};
use tokio::task::block_in_place;

/// Memory for compiled groups, in bytes.
const CACHE_BYTES: u64 = 256 << 20;
/// A guess of how many that are, for the cache's own tables.
const CACHE_ITEMS: usize = 1_000;

/// What the judging step works with.
#[derive(Clone)]
pub struct Judge {
    media: Loader<MediaId, ToJudge>,
    /// Versions never change, so nothing here is ever out of date.
    groups: Arc<Cache<GroupVersionId, Arc<CompiledGroup>, ByBytes>>,
    pool: PgPool,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<GroupVersionId, Arc<CompiledGroup>> for ByBytes {
    fn weight(&self, _: &GroupVersionId, group: &Arc<CompiledGroup>) -> u64 {
        group.approx_bytes() as u64
    }
}

impl Judge {
    /// A judge who has compiled nothing yet.
    pub fn new(pool: PgPool) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first item has no increase then.
        for what in UNCHECKED {
            unchecked(what).increment(0);
        }
        let groups = Cache::with_weighter(CACHE_ITEMS, CACHE_BYTES, ByBytes);
        Self {
            media: verdict::loader(pool.clone()),
            groups: Arc::new(groups),
            pool,
        }
    }

    async fn group(&self, version: GroupVersionId) -> Result<Arc<CompiledGroup>, BoxDynError> {
        self.groups
            .get_or_insert_async(&version, self.compile(version))
            .await
    }

    async fn compile(&self, version: GroupVersionId) -> Result<Arc<CompiledGroup>, BoxDynError> {
        let found = rule_group::find_version(&self.pool, version).await?;
        let found = found.ok_or_else(|| format!("there is no rule group version {version}"))?;
        // Compiling ten thousand keywords takes a while: not on a thread that serves others.
        let compiled = tokio::task::spawn_blocking(move || {
            CompiledGroup::compile(found.group, found.id, &found.rules)
        })
        .await??;
        Ok(Arc::new(compiled))
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
    let mut groups = Vec::with_capacity(item.group_versions.len());
    for version in &item.group_versions {
        groups.push(judge.group(*version).await?);
    }
    let wanted: Vec<Category> = Category::ALL
        .into_iter()
        .filter(|category| {
            groups
                .iter()
                .any(|group| group.categories().contains(category))
        })
        .collect();
    // A long text against thousands of rules takes milliseconds, a hostile one more: other tasks move to other threads.
    let verdict = block_in_place(|| decide(findings(&item, &groups, &wanted)));
    count_unchecked(&verdict.trace);
    let processing_time_ms = item.age_ms + u64::try_from(loaded.elapsed().as_millis()).unwrap_or(0);
    Ok(Some(Concluded {
        media: item.media,
        status: verdict.status,
        moderation_type: verdict.moderation_type,
        details: serde_json::to_string(&verdict.details(Some(processing_time_ms)))?,
        trace: serde_json::to_string(&verdict.trace)?,
    }))
}

/// What may be counted as unchecked: what a decision's trace tells, and a wanted category that nothing could score.
const UNCHECKED: [&str; 6] = [
    "provider_failed",
    "image_not_analysed",
    "text_not_scored",
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
        // No provider and no rule looks at images yet.
        image: if item.has_image {
            Part::Unexamined
        } else {
            Part::Absent
        },
        unchecked: item.unchecked.clone(),
        on_failure: item.on_failure,
    }
}
