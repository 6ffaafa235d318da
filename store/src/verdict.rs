//! The judging step: what the rules need of an item, and the one way in which a verdict is stored.

use std::{collections::HashMap, sync::Arc};

use domain::{
    decision::Unchecked,
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, GroupVersionId, MediaId},
    media::{ModerationType, OnFailure, Status},
    score::Scores,
};
use metrics::{counter, histogram};
use queue::{DeadJob, Effect, FinishTx, NewJobs, Obituary, Survivor};
use sqlx::{PgConnection, PgPool, types::Json};
use tracing::error;
use uuid::Uuid;

use crate::{
    Error,
    gather::{Bounds, Loader},
    jobs::{self, MediaJob},
};

/// Everything that a pending item is judged by.
#[derive(Clone, Debug)]
pub struct ToJudge {
    /// The item.
    pub media: MediaId,
    /// Its text.
    pub text: Option<Arc<str>>,
    /// Whether it has an image, too.
    pub has_image: bool,
    /// The versions that were live when it was accepted.
    pub group_versions: Vec<GroupVersionId>,
    /// What the analysis said; none when no provider could score it.
    pub scores: Option<Scores>,
    /// What could not be checked so far.
    pub unchecked: Vec<Unchecked>,
    /// What the site wants for what could not be checked.
    pub on_failure: OnFailure,
    /// From its acceptance until it was read, by Postgres's clock.
    pub age_ms: u64,
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
        load(&pool, &media).await
    })
}

async fn load(pool: &PgPool, media: &[MediaId]) -> Result<HashMap<MediaId, ToJudge>, Error> {
    let ids: Vec<Uuid> = media.iter().map(|id| id.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            m.body,
            m.content_type,
            m.group_versions,
            s.on_failure,
            (extract(epoch from clock_timestamp() - m.created_at) * 1000)::bigint as "age_ms!",
            a.scores as "scores?: Json<Scores>",
            a.unchecked as "unchecked?: Json<Vec<Unchecked>>"
        from media m
        join sites s on s.id = m.site_id
        left join analyses a on a.media_id = m.id
        where m.id = any($1) and m.status = 'pending'
        "#,
        &ids,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let media = MediaId::from(row.id);
            let item = ToJudge {
                media,
                text: row.body.map(Arc::from),
                has_image: row.content_type == "image",
                group_versions: row
                    .group_versions
                    .into_iter()
                    .map(GroupVersionId::from)
                    .collect(),
                scores: row.scores.map(|scores| scores.0),
                unchecked: row
                    .unchecked
                    .map(|unchecked| unchecked.0)
                    .unwrap_or_default(),
                on_failure: row.on_failure.parse()?,
                age_ms: u64::try_from(row.age_ms).unwrap_or(0),
            };
            Ok((media, item))
        })
        .collect()
}

/// The effect of judging: the verdict is stored and told.
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
}

impl Effect for Concluded {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let verdicts: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        conclude(tx.conn, &verdicts, &mut tx.jobs).await
    }
}

/// A judgement whose attempts are spent: a person must decide. No item is ever left behind.
pub struct JudgementDied;

impl Obituary for JudgementDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut verdicts = Vec::new();
        for job in dead {
            let Ok(MediaJob { media }) = job.args() else {
                error!(job.id = %job.id, "a dead judgement names no media item");
                continue;
            };
            verdicts.push(Concluded {
                media,
                status: Status::PendingReview,
                moderation_type: ModerationType::Rule,
                details: r#"{"rule_violations":[],"reason":"the rules could not be evaluated"}"#
                    .into(),
                trace: format!(r#"{{"job":{},"cause":"{}"}}"#, job.id, job.cause.as_str()),
            });
        }
        conclude(tx.conn, &verdicts.iter().collect::<Vec<_>>(), &mut tx.jobs).await
    }
}

/// Stores first verdicts of items that are still pending, with their events, deliveries and jobs. Items decided
/// meanwhile are passed over.
async fn conclude(
    conn: &mut PgConnection,
    verdicts: &[&Concluded],
    jobs: &mut NewJobs,
) -> Result<(), sqlx::Error> {
    let decided = decide(conn, verdicts).await?;
    let mut told = Told::default();
    let mut last = None;
    for row in decided {
        if last != Some(row.media_id) {
            last = Some(row.media_id);
            counter!("gatehouse_decisions_total", "status" => row.status, "type" => row.moderation_type).increment(1);
            histogram!("gatehouse_time_to_decision_seconds").record(row.seconds);
            told.event.push(EventId::from(Uuid::now_v7()).as_uuid());
            told.media.push(row.media_id);
            told.site.push(row.site_id);
        }
        if let (Some(endpoint), Some(event)) = (row.endpoint_id, told.event.last()) {
            let delivery = DeliveryId::from(Uuid::now_v7());
            told.delivery.push(delivery.as_uuid());
            told.delivery_event.push(*event);
            told.endpoint.push(endpoint);
            jobs.push(jobs::deliver(delivery, EndpointId::from(endpoint)));
        }
    }
    if told.event.is_empty() {
        Ok(())
    } else {
        tell(conn, &told).await
    }
}

struct Decided {
    media_id: Uuid,
    site_id: Uuid,
    status: String,
    moderation_type: String,
    seconds: f64,
    endpoint_id: Option<Uuid>,
}

/// One row for each item and subscribed endpoint, items together.
async fn decide(
    conn: &mut PgConnection,
    verdicts: &[&Concluded],
) -> Result<Vec<Decided>, sqlx::Error> {
    let media: Vec<Uuid> = verdicts.iter().map(|v| v.media.as_uuid()).collect();
    let statuses: Vec<&str> = verdicts.iter().map(|v| v.status.as_str()).collect();
    let types: Vec<&str> = verdicts
        .iter()
        .map(|v| v.moderation_type.as_str())
        .collect();
    let details: Vec<&str> = verdicts.iter().map(|v| v.details.as_str()).collect();
    let traces: Vec<&str> = verdicts.iter().map(|v| v.trace.as_str()).collect();
    sqlx::query_as!(
        Decided,
        r#"
        with input as materialized (
            select *
            from unnest($1::uuid [], $2::text [], $3::text [], $4::text [], $5::text [])
                as i (media_id, status, moderation_type, details, trace)
        ),
        concluded as (
            update media m
            set status = i.status, verdict = 1
            from input i
            where m.id = i.media_id and m.status = 'pending'
            returning m.id, m.team_id, m.site_id, m.created_at, i.status, i.moderation_type, i.details, i.trace
        ),
        new_verdicts as (
            insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
            select id, 1, status, 'pending', moderation_type, details::json, trace::json from concluded
        ),
        new_reviews as (
            insert into reviews (media_id, team_id, site_id)
            select id, team_id, site_id from concluded where status = 'pending_review'
        )
        select
            c.id as "media_id!",
            c.site_id as "site_id!",
            c.status as "status!",
            c.moderation_type as "moderation_type!",
            extract(epoch from clock_timestamp() - c.created_at)::float8 as "seconds!",
            e.id as "endpoint_id?"
        from concluded c
        left join webhook_endpoints e
            on e.site_id = c.site_id and e.disabled_at is null and 'media.moderated' = any(e.events)
        order by c.id
        "#,
        &media,
        &statuses as &[&str],
        &types as &[&str],
        &details as &[&str],
        &traces as &[&str],
    )
    .fetch_all(conn)
    .await
}

#[derive(Default)]
struct Told {
    event: Vec<Uuid>,
    media: Vec<Uuid>,
    site: Vec<Uuid>,
    delivery: Vec<Uuid>,
    delivery_event: Vec<Uuid>,
    endpoint: Vec<Uuid>,
}

async fn tell(conn: &mut PgConnection, told: &Told) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with new_events as (
            insert into events (id, media_id, site_id, kind, verdict)
            select id, media_id, site_id, $4, 1
            from unnest($1::uuid [], $2::uuid [], $3::uuid []) as e (id, media_id, site_id)
        )
        insert into deliveries (id, event_id, endpoint_id)
        select * from unnest($5::uuid [], $6::uuid [], $7::uuid [])
        ",
        &told.event,
        &told.media,
        &told.site,
        EventKind::MediaModerated.as_str(),
        &told.delivery,
        &told.delivery_event,
        &told.endpoint,
    )
    .execute(conn)
    .await?;
    Ok(())
}
