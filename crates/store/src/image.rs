//! The images step: where to get an item's image, and the effect of having examined it.
//!
//! The bytes of a fetched image are stored by themselves, before the step ends ([`keep`]), because
//! a file of 10 MB does not belong in the transaction that finishes hundreds of jobs. What is known
//! of the image is the step's effect.

mod failed;
mod files;
mod findings;

use std::{collections::HashMap, sync::Arc};

use domain::id::{MediaId, TeamId};
use queue::NewJob;
use sqlx::PgPool;
use telemetry::trace::Context;
use uuid::Uuid;

pub(crate) use self::files::retention;
pub use self::{
    failed::ExaminationDied,
    files::{bytes, keep},
    findings::Examined,
};
use crate::{
    Error,
    gather::{Bounds, Loader},
    jobs::{self, Marks},
};

/// A pending item with an image.
#[derive(Clone, Debug)]
pub struct ToExamine {
    /// The item.
    pub media: MediaId,
    /// Its trace.
    pub trace: Context,
    /// Its team, which is the lane of its jobs.
    pub team: TeamId,
    /// Where its image is.
    pub source: Source,
    /// Whether any rule that judges it needs scores: then the analysis is next, else the rules are.
    pub uses_ai: bool,
}

/// Where to get an image.
#[derive(Clone, Debug)]
pub enum Source {
    /// Here: so many bytes that were sent along, or that an earlier run has fetched.
    Stored(usize),
    /// At this URL, as the tenant wrote it.
    Url(Arc<str>),
    /// Nowhere.
    Gone,
}

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 64,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads pending items. Items that are decided already are not found.
pub fn loader(pool: PgPool) -> Loader<MediaId, ToExamine> {
    Loader::start(
        pool,
        "images to examine",
        BOUNDS,
        |pool, media| async move { load(&pool, &media).await },
    )
}

async fn load(pool: &PgPool, media: &[MediaId]) -> Result<HashMap<MediaId, ToExamine>, Error> {
    let ids: Vec<Uuid> = media.iter().map(|id| id.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            m.team_id,
            m.traceparent,
            m.content_url,
            octet_length(i.bytes) as "stored?",
            exists (
                select from rule_group_versions v where v.id = any(m.group_versions) and v.uses_ai
            ) as "uses_ai!"
        from media m
        left join media_images i on i.media_id = m.id
        where m.id = any($1) and m.status = 'pending'
        "#,
        &ids,
    )
    .fetch_all(pool)
    .await?;
    let items = rows.into_iter().map(|row| {
        let media = MediaId::from(row.id);
        let item = ToExamine {
            media,
            trace: Context::of_stored(row.id.into_bytes(), row.traceparent.as_deref()),
            team: row.team_id.into(),
            source: match (row.stored, row.content_url) {
                (Some(bytes), _) => Source::Stored(usize::try_from(bytes).unwrap_or(0)),
                (None, Some(url)) => Source::Url(url.into()),
                (None, None) => Source::Gone,
            },
            uses_ai: row.uses_ai,
        };
        (media, item)
    });
    Ok(items.collect())
}

/// The step after this one.
fn next(media: MediaId, team: TeamId, uses_ai: bool, marks: Marks) -> NewJob {
    if uses_ai || marks.all_scores {
        jobs::analyse(media, team, marks)
    } else {
        jobs::judge(media, team, marks)
    }
}
