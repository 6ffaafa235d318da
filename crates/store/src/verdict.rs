//! The judging step: what the rules need of an item, and the effect of judging it. Every verdict,
//! the machine's or a person's, is stored in one way: [`conclude`].

mod insert;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use domain::{
    decision::{ImageProblem, MissingScores, Unchecked},
    id::{GroupVersionId, MediaId, TeamId},
    image_hash::HashMatch,
    media::{ModerationType, OnFailure, Status, Step},
    score::Scores,
};
use queue::{DeadJob, FinishTx, OnDead};
use sqlx::{PgPool, types::Json};
use telemetry::trace::Context;
use tracing::error;
use uuid::Uuid;

pub use self::insert::expect_none;
pub(crate) use self::insert::{Conclusion, conclude};
use crate::{
    Error,
    analysis::{Analysed, ToAnalyse},
    created_event::{self, Created},
    gather::{Bounds, Loader},
    hash_list::matches,
    jobs::MediaJob,
    rule_group::shadow::{self, Compared, Shadowed},
};

/// Everything that a pending item is judged by.
#[derive(Clone, Debug)]
pub struct ToJudge {
    /// The item.
    pub media: MediaId,
    /// Its trace.
    pub trace: telemetry::trace::Context,
    /// Its team.
    pub team: TeamId,
    /// Its text.
    pub text: Option<Arc<str>>,
    /// Whether it has an image, too.
    pub has_image: bool,
    /// The hash lists that its image was found on.
    pub image_matches: Vec<HashMatch>,
    /// The versions that were live when it was accepted.
    pub group_versions: Vec<GroupVersionId>,
    /// The versions that judge it without effect, each instead of its group's live version.
    pub shadows: Vec<GroupVersionId>,
    /// Whether a provider scored the image.
    pub image_scored: bool,
    /// What the analysis said; none when no provider could score it.
    pub scores: Option<Scores>,
    /// What the analysis did not score of the text and of the image; empty where that is not known.
    pub gaps: Vec<MissingScores>,
    /// What could not be checked so far.
    pub unchecked: Vec<Unchecked>,
    /// The site's setting for content that could not be checked.
    pub on_failure: OnFailure,
    /// Milliseconds from its acceptance until it was read, by Postgres's clock.
    pub age_ms: u64,
}

impl ToJudge {
    /// What the rules need of an item, by an analysis that was just made.
    pub fn analysed(item: &ToAnalyse, analysed: &Analysed) -> Self {
        Self {
            media: item.media,
            trace: item.trace,
            team: item.team,
            text: item.text.clone(),
            has_image: item.has_image,
            image_matches: item.image_matches.clone(),
            group_versions: item.group_versions.clone(),
            shadows: item.shadows.clone(),
            image_scored: analysed.image_scored == Some(true),
            scores: analysed.scores,
            gaps: analysed.gaps.clone(),
            unchecked: unchecked(
                analysed.unchecked.clone(),
                analysed.image_scored,
                item.image_problem,
            ),
            on_failure: item.on_failure,
            age_ms: u64::try_from(item.age.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// A verdict of the rules.
#[derive(Debug)]
pub struct Concluded {
    /// The item.
    pub media: MediaId,
    /// The verdict; never `pending`.
    pub status: Status,
    /// Who or what decided.
    pub moderation_type: ModerationType,
    /// `moderation_details` as JSON.
    pub details: String,
    /// The trace as JSON.
    pub trace: String,
    /// What shadows said.
    pub shadows: Vec<Shadowed>,
}

impl Concluded {
    fn compared(&self) -> impl Iterator<Item = Compared> {
        self.shadows.iter().map(|shadowed| Compared {
            media: self.media,
            live: self.status,
            shadowed: *shadowed,
        })
    }

    fn conclusion(&self) -> Conclusion<'_> {
        Conclusion {
            media: self.media,
            step: Step::judged(self.status),
            moderation_type: self.moderation_type,
            details: &self.details,
            trace: &self.trace,
            analysed: None,
            created: None,
        }
    }
}

/// A verdict, the analysis to store with it, and the acceptance to tell with it.
pub(crate) type Judged<'a> = (&'a Concluded, Option<&'a Analysed>, Option<&'a Created>);

/// Stores verdicts of the rules and tells them, acceptances first. Returns whose verdicts they have become: others were decided before.
pub(crate) async fn store(
    tx: &mut FinishTx<'_>,
    judged: &[Judged<'_>],
) -> Result<HashSet<MediaId>, sqlx::Error> {
    if judged.is_empty() {
        return Ok(HashSet::new());
    }
    let verdicts: Vec<_> = judged
        .iter()
        .map(|(concluded, analysed, created)| Conclusion {
            analysed: *analysed,
            created: *created,
            ..concluded.conclusion()
        })
        .collect();
    let stored = conclude(tx.conn, &verdicts, &mut tx.jobs).await?;
    let stored: HashSet<MediaId> = stored.into_iter().map(|(media, _)| media).collect();
    // Somebody else has decided about these in the meantime.
    let untold = judged.iter().filter_map(|(_, _, created)| *created);
    let untold = untold.filter(|created| !stored.contains(&created.media));
    created_event::tell(tx.conn, &untold.collect::<Vec<_>>(), &mut tx.jobs).await?;
    let compared = judged
        .iter()
        .flat_map(|(concluded, ..)| concluded.compared())
        // Items that somebody else decided in the meantime are counted there.
        .filter(|compared| stored.contains(&compared.media));
    shadow::record(tx.conn, &compared.collect::<Vec<_>>()).await?;
    Ok(stored)
}

/// A judgement without attempts left: a person must decide. No item is left without a verdict.
pub struct JudgementDied;

impl OnDead for JudgementDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut verdicts = Vec::new();
        let mut created = Vec::new();
        for job in dead {
            let Ok(judgement) = job.args::<MediaJob>() else {
                error!(job.id = %job.id, "a dead rules job has no readable item id");
                continue;
            };
            let media = judgement.media;
            created.push(judgement.created());
            verdicts.push(Concluded {
                media,
                status: Status::PendingReview,
                moderation_type: ModerationType::Rule,
                details: r#"{"rule_violations":[],"reason":"the rules could not be evaluated"}"#
                    .into(),
                trace: format!(r#"{{"job":{},"cause":"{}"}}"#, job.id, job.cause.as_str()),
                shadows: Vec::new(),
            });
        }
        let judged: Vec<Judged<'_>> = verdicts
            .iter()
            .zip(&created)
            .map(|(concluded, created)| (concluded, None, created.as_ref()))
            .collect();
        store(tx, &judged).await.map(drop)
    }
}

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    // Texts have up to 100 KB each.
    batch: 64,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads pending items. An item that is decided already is not found.
pub fn loader(pool: PgPool) -> Loader<MediaId, ToJudge> {
    Loader::start(pool, "media to judge", BOUNDS, |pool, media| async move {
        load(&pool, &media, Wanted::Pending).await
    })
}

/// Which items are loaded to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those that wait for a verdict.
    Pending,
    /// Decided ones, too.
    All,
}

pub(crate) async fn load(
    pool: &PgPool,
    media: &[MediaId],
    wanted: Wanted,
) -> Result<HashMap<MediaId, ToJudge>, Error> {
    let ids: Vec<Uuid> = media.iter().map(|id| id.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            m.team_id,
            m.traceparent,
            m.body,
            m.content_type,
            m.group_versions,
            array(
                select g.shadow_version_id
                from rule_group_versions v
                join rule_groups g on g.id = v.rule_group_id
                where v.id = any(m.group_versions) and g.shadow_version_id <> v.id
            ) as "shadows!",
            s.on_failure,
            (extract(epoch from clock_timestamp() - m.created_at) * 1000)::bigint as "age_ms!",
            a.scores as "scores?: Json<Scores>",
            a.image_scored as "image_scored?",
            a.unchecked as "unchecked?: Json<Vec<Unchecked>>",
            a.gaps as "gaps?: Json<Vec<MissingScores>>",
            (select i.problem from media_images i where i.media_id = m.id) as image_problem
        from media m
        join sites s on s.id = m.site_id
        left join analyses a on a.media_id = m.id
        where m.id = any($1) and (m.status = 'pending' or $2)
        "#,
        &ids,
        wanted == Wanted::All,
    )
    .fetch_all(pool)
    .await?;
    let images = rows.iter().filter(|row| row.content_type == "image");
    let images: Vec<_> = images.map(|row| MediaId::from(row.id)).collect();
    let mut matches = matches::of(pool, &images).await?;
    rows.into_iter()
        .map(|row| {
            let media = MediaId::from(row.id);
            let problem = row.image_problem.map(|p| p.parse()).transpose()?;
            let noted = row.unchecked.map(|u| u.0).unwrap_or_default();
            let item = ToJudge {
                media,
                trace: Context::of_stored(row.id.into_bytes(), row.traceparent.as_deref()),
                team: row.team_id.into(),
                text: row.body.map(Arc::from),
                has_image: row.content_type == "image",
                image_matches: matches.remove(&media).unwrap_or_default(),
                group_versions: row
                    .group_versions
                    .into_iter()
                    .map(GroupVersionId::from)
                    .collect(),
                shadows: row.shadows.into_iter().map(GroupVersionId::from).collect(),
                image_scored: row.image_scored == Some(true),
                scores: row.scores.map(|scores| scores.0),
                gaps: row.gaps.map(|gaps| gaps.0).unwrap_or_default(),
                unchecked: unchecked(noted, row.image_scored, problem),
                on_failure: row.on_failure.parse()?,
                age_ms: u64::try_from(row.age_ms).unwrap_or(0),
            };
            Ok((media, item))
        })
        .collect()
}

/// What could not be checked of an item: what its analysis noted, and what is known of its image.
fn unchecked(
    mut noted: Vec<Unchecked>,
    image_scored: Option<bool>,
    problem: Option<ImageProblem>,
) -> Vec<Unchecked> {
    if image_scored == Some(false) {
        noted.push(Unchecked::ImageNotScored);
    }
    noted.extend(problem.map(|problem| Unchecked::ImageNotAnalysed { problem }));
    noted
}
