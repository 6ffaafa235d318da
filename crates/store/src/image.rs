//! The images step: where to get an item's image, and the effect of having examined it.
//!
//! The bytes of a fetched image are stored by themselves, before the step ends ([`keep`]), because
//! a file of 10 MB does not belong in the transaction that finishes hundreds of jobs. What is known
//! of the image is the step's effect.

mod files;
mod orphans;

use std::{collections::HashMap, sync::Arc};

use domain::{
    decision::ImageProblem,
    id::{MediaId, TeamId},
    image_hash::{HashMatch, Hashed},
};
use queue::{DeadJob, Effect, FinishTx, NewJob, OnDead, Survivor};
use sqlx::{PgConnection, PgPool};
use telemetry::trace::Context;
use tracing::error;
use uuid::Uuid;

pub use self::files::{bytes, keep};
pub(crate) use self::{files::forget_old, orphans::forget_orphans};
use crate::{
    Error,
    gather::{Bounds, Loader},
    hash_list::matches,
    jobs::{self, Marks, MediaJob},
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

/// An examination without attempts left: the item goes on without it, with a note that says so. If
/// the file is stored, but every worker that decoded it died, the note says that it could not be
/// decoded. No item is left without a verdict.
pub struct ExaminationDied;

impl OnDead for ExaminationDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut died = Vec::new();
        for job in dead {
            let Ok(MediaJob { media, .. }) = job.args() else {
                error!(job.id = %job.id, "a dead image job has no readable item id");
                continue;
            };
            died.push(media.as_uuid());
        }
        for item in give_up(tx.conn, &died).await? {
            // No request waits for as long as its attempts took.
            let marks = Marks::default();
            tx.jobs
                .push(next(item.media, item.team, item.uses_ai, marks));
        }
        Ok(())
    }
}

struct GivenUp {
    media: MediaId,
    team: TeamId,
    uses_ai: bool,
}

async fn give_up(conn: &mut PgConnection, media: &[Uuid]) -> Result<Vec<GivenUp>, sqlx::Error> {
    sqlx::query_as!(
        GivenUp,
        r#"
        with pending as materialized (
            select id, team_id, site_id, group_versions from media where id = any($1) and status = 'pending'
        ),
        noted as (
            insert into media_images as i (media_id, site_id, problem)
            select id, site_id, 'not_fetched' from pending
            on conflict (media_id) do update set
                problem = case when i.bytes is null then 'not_fetched' else 'undecodable' end
        )
        select
            p.id as media,
            p.team_id as team,
            exists (
                select from rule_group_versions v where v.id = any(p.group_versions) and v.uses_ai
            ) as "uses_ai!"
        from pending p
        "#,
        media,
    )
    .fetch_all(conn)
    .await
}

/// The effect of having examined an image: what is known of it is kept, and the item goes on.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// Whether the analysis is next; else the rules are.
    pub uses_ai: bool,
    /// Width and height in pixels; none if it could not be decoded.
    pub size: Option<(u32, u32)>,
    /// Its hashes; none if there never was a file.
    pub hashed: Option<Hashed>,
    /// The hash lists that it is on.
    pub matches: Vec<HashMatch>,
    /// Why it cannot be analysed; none if it can.
    pub problem: Option<ImageProblem>,
    /// What its request asks of all its jobs.
    pub marks: Marks,
}

impl Effect for Examined {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let examined: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        record(tx.conn, &examined).await?;
        let matches = examined
            .iter()
            .flat_map(|examined| examined.matches.iter().map(|on| (examined.media, *on)));
        matches::record(tx.conn, &matches.collect::<Vec<_>>(), None).await?;
        for examined in examined {
            tx.jobs.push(next(
                examined.media,
                examined.team,
                examined.uses_ai,
                examined.marks,
            ));
        }
        Ok(())
    }
}

async fn record(conn: &mut PgConnection, examined: &[&Examined]) -> Result<(), sqlx::Error> {
    let media: Vec<Uuid> = examined.iter().map(|e| e.media.as_uuid()).collect();
    let side = |side: u32| i32::try_from(side).unwrap_or(i32::MAX);
    let widths: Vec<Option<i32>> = examined
        .iter()
        .map(|e| e.size.map(|(width, _)| side(width)))
        .collect();
    let heights: Vec<Option<i32>> = examined
        .iter()
        .map(|e| e.size.map(|(_, height)| side(height)))
        .collect();
    let sha256: Vec<Option<&[u8]>> = examined
        .iter()
        .map(|e| {
            e.hashed
                .as_ref()
                .map(|hashed| &hashed.sha256.as_bytes()[..])
        })
        .collect();
    let pdq: Vec<Option<&[u8]>> = examined
        .iter()
        .map(|e| Some(&e.hashed.as_ref()?.pdq.as_ref()?.as_bytes()[..]))
        .collect();
    let qualities: Vec<Option<i16>> = examined
        .iter()
        .map(|e| e.size.and(e.hashed).map(|hashed| hashed.quality.into()))
        .collect();
    let problems: Vec<Option<&str>> = examined
        .iter()
        .map(|e| e.problem.map(ImageProblem::as_str))
        .collect();
    sqlx::query!(
        "
        insert into media_images (media_id, site_id, width, height, sha256, pdq, pdq_quality, problem)
        select m.id, m.site_id, i.width, i.height, i.sha256, i.pdq, i.pdq_quality, i.problem
        from unnest(
            $1::uuid [], $2::integer [], $3::integer [], $4::bytea [], $5::bytea [], $6::smallint [], $7::text []
        ) as i (media_id, width, height, sha256, pdq, pdq_quality, problem)
        join media m on m.id = i.media_id and m.status = 'pending'
        on conflict (media_id) do update set
            site_id = excluded.site_id,
            width = excluded.width,
            height = excluded.height,
            sha256 = excluded.sha256,
            pdq = excluded.pdq,
            pdq_quality = excluded.pdq_quality,
            problem = excluded.problem
        ",
        &media,
        &widths as &[Option<i32>],
        &heights as &[Option<i32>],
        &sha256 as &[Option<&[u8]>],
        &pdq as &[Option<&[u8]>],
        &qualities as &[Option<i16>],
        &problems as &[Option<&str>],
    )
    .execute(conn)
    .await?;
    Ok(())
}
