//! The analysis step: what providers are asked about an item, and what they said of it.

pub(crate) mod parts;
pub(crate) mod pieces;

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::{
    decision::{ImageProblem, MissingScores, Unchecked},
    id::{GroupVersionId, MediaId, SiteId, TeamId},
    image_hash::HashMatch,
    media::{Modality, OnFailure},
    score::{Category, Scores},
};
use queue::{DeadJob, FinishTx, OnDead};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use telemetry::trace::Context;
use tracing::error;
use uuid::Uuid;

pub use self::{parts::Part, pieces::Piece};
use crate::{
    Error,
    created_event::{self, Created},
    gather::{Bounds, Loader},
    hash_list::matches,
    jobs::{self, Marks, MediaJob},
    json::to_json,
    provider,
};

/// A pending item's content, and which providers may see it.
#[derive(Clone, Debug)]
pub struct ToAnalyse {
    /// The item.
    pub media: MediaId,
    /// Its trace.
    pub trace: telemetry::trace::Context,
    /// Its team, which is the lane of its jobs.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// Its text.
    pub text: Option<Arc<str>>,
    /// Whether it has an image that can be analysed: its bytes are stored and could be read.
    pub has_picture: bool,
    /// The hash lists that its image is on.
    pub image_matches: Vec<HashMatch>,
    /// What judges it afterwards.
    pub group_versions: Vec<GroupVersionId>,
    /// The versions that judge it without effect, each instead of its group's live version.
    pub shadows: Vec<GroupVersionId>,
    /// The site's setting for content that could not be checked.
    pub on_failure: OnFailure,
    /// Whether it was submitted with an image, even one that cannot be analysed.
    pub has_image: bool,
    /// Why its image cannot be analysed; none if it can.
    pub image_problem: Option<ImageProblem>,
    /// Whether the rules must judge it in a job of their own: their queue is paused, or the team is
    /// paused or has a cap in that queue.
    pub rules_are_held: bool,
    /// The categories that its rules ask for. Empty: this is not known, and the rules may ask for
    /// any.
    pub wanted: Vec<Category>,
    /// The providers that its site prefers, in their order; none: the operator's.
    pub preferred: Option<Vec<String>>,
    /// What its site tells models that judge by a policy.
    pub policy: Option<Arc<str>>,
    /// How long a provider's answer is reused for equal texts of its site; none: never.
    pub answers_hold: Option<Duration>,
    /// What was found so far.
    pub parts: Vec<Part>,
    /// What was found so far of pieces of its text, and of frames of its image.
    pub pieces: Vec<Piece>,
    /// How long ago it was accepted, by Postgres's clock.
    pub age: Duration,
}

/// What one provider answered, as it is stored in the trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProviderReport {
    /// The provider's name.
    pub provider: String,
    /// What it was shown.
    #[serde(default)]
    pub modality: Modality,
    /// Its scores, mapped to our categories; empty if it failed.
    pub scores: Scores,
    /// How long it took.
    pub elapsed_ms: u64,
    /// Why it failed for good, in one word; none if it did not fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Why it was not shown all of the image; none if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<ImageProblem>,
    /// The stored part of its answer; none if the answer tells nothing more than the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The item with an equal text that the provider was asked about; none if it was asked about
    /// this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_from: Option<MediaId>,
}

/// A complete analysis.
#[derive(Debug)]
pub struct Analysed {
    /// The item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// The maximum per category, over the text, the image and earlier parts; none when no provider
    /// could score it.
    pub scores: Option<Scores>,
    /// Whether the image was scored; none when no provider has looked at it.
    pub image_scored: Option<bool>,
    /// What providers said in the last part.
    pub providers: Vec<ProviderReport>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// What no provider scored of the text and of the image; none when the analysis did not finish.
    pub gaps: Vec<MissingScores>,
    /// Whether earlier runs have kept parts of it.
    pub has_parts: bool,
}

/// Stores complete analyses, with the reports of their earlier parts, which are no longer needed
/// then.
pub(crate) async fn record(
    conn: &mut PgConnection,
    analyses: &[&Analysed],
) -> Result<(), sqlx::Error> {
    if analyses.is_empty() {
        return Ok(());
    }
    let mut media = Vec::with_capacity(analyses.len());
    let mut scores = Vec::with_capacity(analyses.len());
    let mut images_scored = Vec::with_capacity(analyses.len());
    let mut unchecked = Vec::with_capacity(analyses.len());
    let mut gaps = Vec::with_capacity(analyses.len());
    let (mut reported, mut reports) = (Vec::new(), Vec::new());
    for analysed in analyses {
        media.push(analysed.media.as_uuid());
        scores.push(analysed.scores.as_ref().map(to_json).transpose()?);
        images_scored.push(analysed.image_scored);
        unchecked.push(to_json(&analysed.unchecked)?);
        gaps.push(to_json(&analysed.gaps)?);
        for report in &analysed.providers {
            reported.push(analysed.media.as_uuid());
            reports.push(to_json(report)?);
        }
    }
    sqlx::query!(
        "
        with of_pieces as (
            delete from analysis_pieces where media_id = any($1)
        ),
        of_texts as (
            delete from analysis_parts where media_id = any($1) returning media_id, report
        ),
        of_images as (
            delete from analysis_image_parts where media_id = any($1) returning media_id, report
        ),
        earlier as (
            select media_id, report from of_texts
            union all
            select media_id, report from of_images
        ),
        reports as (
            select media_id, json_agg(report order by last, number) as providers
            from (
                select media_id, report, false as last, 0 as number from earlier
                union all
                select media_id, report::json, true, number
                from unnest($6::uuid [], $7::text []) with ordinality as l (media_id, report, number)
            ) as r
            group by media_id
        )
        insert into analyses (media_id, scores, image_scored, providers, unchecked, gaps)
        select
            a.media_id, a.scores::json, a.image_scored, coalesce(r.providers, '[]'), a.unchecked::json, a.gaps::json
        from unnest($1::uuid [], $2::text [], $3::boolean [], $4::text [], $5::text [])
        as a (media_id, scores, image_scored, unchecked, gaps)
        join media m on m.id = a.media_id and m.erased_at is null
        left join reports r on r.media_id = a.media_id
        on conflict on constraint analyses_pkey do nothing
        ",
        &media,
        &scores as &[Option<String>],
        &images_scored as &[Option<bool>],
        &unchecked,
        &gaps,
        &reported,
        &reports,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// An analysis without attempts left. The rules get what was found so far, and a note of what was
/// not checked, so that the site's `on_failure` decides. No item is left without a verdict.
pub struct AnalysisDied;

impl OnDead for AnalysisDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut died = Vec::new();
        let mut created = Vec::new();
        for job in dead {
            let Ok(job_args) = job.args::<MediaJob>() else {
                error!(job.id = %job.id, "a dead analysis job has no readable item id");
                continue;
            };
            let media = job_args.media;
            created.extend(job_args.created());
            died.push(Analysed {
                media,
                team: TeamId::from(job.lane.0),
                scores: None,
                image_scored: None,
                providers: Vec::new(),
                unchecked: vec![Unchecked::ProviderFailed {
                    provider: "analysis".into(),
                    modality: Modality::Text,
                    detail: format!("{}: {}", job.cause.as_str(), job.error),
                }],
                gaps: Vec::new(),
                has_parts: true,
            });
        }
        let ids: Vec<Uuid> = died.iter().map(|died| died.media.as_uuid()).collect();
        let mut parts = parts::load(tx.conn, &ids).await?;
        for died in &mut died {
            let parts = parts.remove(&died.media.as_uuid()).unwrap_or_default();
            died.scores = parts::merged(&parts);
            died.image_scored = parts::image_scored(&parts);
        }
        let untold: Vec<&Created> = created.iter().collect();
        created_event::tell(tx.conn, &untold, &mut tx.jobs).await?;
        record(tx.conn, &died.iter().collect::<Vec<_>>()).await?;
        // No request waits for as long as its attempts took.
        let next = died
            .iter()
            .map(|died| jobs::judge(died.media, died.team, Marks::default()));
        tx.jobs.extend(next);
        Ok(())
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

/// Loads pending items. Items that are decided already are not found.
pub fn loader(pool: PgPool) -> Loader<MediaId, ToAnalyse> {
    Loader::start(pool, "media to analyse", BOUNDS, |pool, media| async move {
        load(&pool, &media).await
    })
}

#[expect(clippy::too_many_lines, reason = "nearly all of it is one statement")]
async fn load(pool: &PgPool, media: &[MediaId]) -> Result<HashMap<MediaId, ToAnalyse>, Error> {
    let ids: Vec<Uuid> = media.iter().map(|id| id.as_uuid()).collect();
    // A version that uses AI and names no category was published by an older binary, which did not
    // store the categories. It may ask for any.
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            m.team_id,
            m.site_id,
            m.traceparent,
            m.body,
            exists (
                select from media_images i
                where i.media_id = m.id and i.bytes is not null and i.problem is null
            ) as "has_picture!",
            m.group_versions,
            m.content_type,
            (select i.problem from media_images i where i.media_id = m.id) as image_problem,
            array(
                select g.shadow_version_id
                from rule_group_versions v
                join rule_groups g on g.id = v.rule_group_id
                where v.id = any(m.group_versions) and g.shadow_version_id <> v.id
            ) as "shadows!",
            s.on_failure,
            s.providers,
            s.policy,
            s.answer_cache_seconds,
            exists (
                select from queue.queues q where q.queue = $2 and q.paused_until > now()
                union all
                select
                from queue.groups g
                where g.queue = $2 and g.grp = m.team_id and (g.cap is not null or g.paused_until > now())
                union all
                select
                from queue.lanes l
                where l.queue = $2 and l.lane = m.team_id and (l.cap is not null or l.paused_until > now())
            ) as "rules_are_held!",
            (
                select coalesce(array_agg(distinct c.category), '{}')
                from rule_group_versions v
                cross join unnest(v.categories) as c (category)
                where v.id = any(m.group_versions)
            ) as "wanted!",
            exists (
                select
                from rule_group_versions v
                where v.id = any(m.group_versions) and v.uses_ai and v.categories = '{}'
            ) as "any!",
            exists (
                select from analysis_parts p where p.media_id = m.id
                union all
                select from analysis_image_parts p where p.media_id = m.id
                union all
                select from analysis_pieces p where p.media_id = m.id
            ) as "begun!",
            (extract(epoch from clock_timestamp() - m.created_at) * 1000)::bigint as "age_ms!"
        from media m
        join sites s on s.id = m.site_id
        where m.id = any($1) and m.status = 'pending'
        "#,
        &ids,
        jobs::RULES.as_str(),
    )
    .fetch_all(pool)
    .await?;
    let images = rows.iter().filter(|row| row.content_type == "image");
    let images: Vec<_> = images.map(|row| MediaId::from(row.id)).collect();
    let mut matches = matches::of(pool, &images).await?;
    let begun: Vec<Uuid> = rows.iter().filter(|r| r.begun).map(|r| r.id).collect();
    let (mut parts, mut pieces) = if begun.is_empty() {
        (HashMap::new(), HashMap::new())
    } else {
        let mut conn = pool.acquire().await?;
        let parts = parts::load(&mut conn, &begun).await?;
        (parts, pieces::load(&mut conn, &begun).await?)
    };
    rows.into_iter()
        .map(|row| {
            let media = MediaId::from(row.id);
            let wanted = if row.any {
                Vec::new()
            } else {
                provider::categories(&row.wanted)?
            };
            let item = ToAnalyse {
                media,
                trace: Context::of_stored(row.id.into_bytes(), row.traceparent.as_deref()),
                team: row.team_id.into(),
                site: row.site_id.into(),
                text: row.body.map(Arc::from),
                has_picture: row.has_picture,
                image_matches: matches.remove(&media).unwrap_or_default(),
                group_versions: row
                    .group_versions
                    .into_iter()
                    .map(GroupVersionId::from)
                    .collect(),
                shadows: row.shadows.into_iter().map(GroupVersionId::from).collect(),
                on_failure: row.on_failure.parse()?,
                has_image: row.content_type == "image",
                image_problem: row.image_problem.map(|p| p.parse()).transpose()?,
                rules_are_held: row.rules_are_held,
                wanted,
                preferred: row.providers,
                policy: row.policy.map(Arc::from),
                answers_hold: row
                    .answer_cache_seconds
                    .and_then(|seconds| Some(Duration::from_secs(seconds.try_into().ok()?))),
                parts: parts.remove(&row.id).unwrap_or_default(),
                pieces: pieces.remove(&row.id).unwrap_or_default(),
                age: Duration::from_millis(u64::try_from(row.age_ms).unwrap_or(0)),
            };
            Ok((media, item))
        })
        .collect()
}
