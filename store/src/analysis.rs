//! The analysis step: what providers are asked about an item, and what they said of it.

use std::{collections::HashMap, sync::Arc};

use domain::{
    decision::Unchecked,
    id::{MediaId, TeamId},
    score::Scores,
};
use queue::{DeadJob, Effect, FinishTx, Obituary, Survivor};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use tracing::error;
use uuid::Uuid;

use crate::{
    Error,
    gather::{Bounds, Loader},
    jobs::{self, MediaJob},
};

/// A pending item's content.
#[derive(Clone, Debug)]
pub struct ToAnalyse {
    /// The item.
    pub media: MediaId,
    /// Its team, which is the lane of its jobs.
    pub team: TeamId,
    /// Its text.
    pub text: Option<Arc<str>>,
    /// Whether it has an image, too.
    pub has_image: bool,
}

/// What one provider said, as it is kept for the trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProviderReport {
    /// The provider's name.
    pub provider: String,
    /// Its scores, mapped to our categories.
    pub scores: Scores,
    /// How long it took.
    pub elapsed_ms: u64,
}

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    // Texts have up to 100 KB each.
    batch: 64,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads pending items. An item that is none, because it is decided already, is not found.
pub fn loader(pool: PgPool) -> Loader<MediaId, ToAnalyse> {
    Loader::start(pool, "media to analyse", BOUNDS, |pool, media| async move {
        load(&pool, &media).await
    })
}

async fn load(pool: &PgPool, media: &[MediaId]) -> Result<HashMap<MediaId, ToAnalyse>, Error> {
    let ids: Vec<Uuid> = media.iter().map(|id| id.as_uuid()).collect();
    let rows = sqlx::query!(
        "
        select id, team_id, body, content_type
        from media
        where id = any($1) and status = 'pending'
        ",
        &ids,
    )
    .fetch_all(pool)
    .await?;
    let items = rows.into_iter().map(|row| {
        let media = MediaId::from(row.id);
        let text = row.body.map(Arc::from);
        (
            media,
            ToAnalyse {
                media,
                team: row.team_id.into(),
                text,
                has_image: row.content_type == "image",
            },
        )
    });
    Ok(items.collect())
}

/// The effect of an analysis: its result is kept, and the rules are next.
#[derive(Debug)]
pub struct Analysed {
    /// The item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// The maximum per category; none when no provider could score it.
    pub scores: Option<Scores>,
    /// What each provider said.
    pub providers: Vec<ProviderReport>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
}

impl Effect for Analysed {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let analyses: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        record(tx.conn, &analyses).await?;
        tx.jobs.extend(
            analyses
                .iter()
                .map(|analysed| jobs::judge(analysed.media, analysed.team)),
        );
        Ok(())
    }
}

async fn record(conn: &mut PgConnection, analyses: &[&Analysed]) -> Result<(), sqlx::Error> {
    let mut media = Vec::with_capacity(analyses.len());
    let mut scores = Vec::with_capacity(analyses.len());
    let mut providers = Vec::with_capacity(analyses.len());
    let mut unchecked = Vec::with_capacity(analyses.len());
    for analysed in analyses {
        media.push(analysed.media.as_uuid());
        scores.push(analysed.scores.as_ref().map(to_json).transpose()?);
        providers.push(to_json(&analysed.providers)?);
        unchecked.push(to_json(&analysed.unchecked)?);
    }
    sqlx::query!(
        "
        insert into analyses (media_id, scores, providers, unchecked)
        select media_id, scores::json, providers::json, unchecked::json
        from unnest($1::uuid [], $2::text [], $3::text [], $4::text []) as a (media_id, scores, providers, unchecked)
        on conflict on constraint analyses_pkey do nothing
        ",
        &media,
        &scores as &[Option<String>],
        &providers,
        &unchecked,
    )
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// An analysis whose attempts are spent: the item goes on to the rules, with a note of what was not checked, so that
/// the site's `on_failure` decides. No item is ever left behind.
pub struct AnalysisDied;

impl Obituary for AnalysisDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut died = Vec::new();
        for job in dead {
            let Ok(MediaJob { media }) = job.args() else {
                error!(job.id = %job.id, "a dead analysis names no media item");
                continue;
            };
            died.push(Analysed {
                media,
                team: TeamId::from(job.lane.0),
                scores: None,
                providers: Vec::new(),
                unchecked: vec![Unchecked::ProviderFailed {
                    provider: "analysis".into(),
                    detail: format!("{}: {}", job.cause.as_str(), job.error),
                }],
            });
        }
        record(tx.conn, &died.iter().collect::<Vec<_>>()).await?;
        tx.jobs.extend(
            died.iter()
                .map(|analysed| jobs::judge(analysed.media, analysed.team)),
        );
        Ok(())
    }
}
