//! The one way in which verdicts are stored and told, whoever decided: the item moves, the verdict is kept, the list of
//! what waits for a person follows, and an event goes to every endpoint that wants to hear of it.

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId},
    media::{ModerationType, Status, Step},
};
use metrics::{Counter, counter, histogram};
use queue::NewJobs;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::jobs::Pages;

/// A verdict to store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conclusion<'a> {
    /// The item.
    pub(crate) media: MediaId,
    /// From where it must still stand to where it goes.
    pub(crate) step: Step,
    /// Who or what decided.
    pub(crate) moderation_type: ModerationType,
    /// `moderation_details` as JSON.
    pub(crate) details: &'a str,
    /// The trace as JSON.
    pub(crate) trace: &'a str,
}

/// Shows verdicts of these types as 0 from the start: a counter that first appears with its first verdict has no increase then.
pub fn expect_none(types: &[ModerationType]) {
    for moderation_type in types {
        for status in Status::ALL
            .iter()
            .filter(|status| **status != Status::Pending)
        {
            decisions(status.to_string(), moderation_type.to_string()).increment(0);
        }
    }
}

fn decisions(status: String, moderation_type: String) -> Counter {
    counter!("gatehouse_decisions_total", "status" => status, "type" => moderation_type)
}

/// Stores verdicts of items that still stand where the verdicts come from, with their events and deliveries, and adds
/// the jobs of these. Items that moved meanwhile are passed over. Says which items were decided, and when.
pub(crate) async fn conclude(
    conn: &mut PgConnection,
    verdicts: &[Conclusion<'_>],
    jobs: &mut NewJobs,
) -> Result<Vec<(MediaId, DateTime<Utc>)>, sqlx::Error> {
    let decided = decide(conn, verdicts).await?;
    let (mut told, mut pages) = (Told::default(), Pages::default());
    let mut last = None;
    for row in decided {
        if last != Some(row.media_id) {
            last = Some(row.media_id);
            decisions(row.status, row.moderation_type).increment(1);
            // People take hours, and would hide in one figure how long the machine takes.
            if row.number == 1 {
                histogram!("gatehouse_time_to_decision_seconds").record(row.seconds);
            }
            told.event.push(EventId::from(Uuid::now_v7()).as_uuid());
            told.media.push(row.media_id);
            told.site.push(row.site_id);
            told.verdict.push(row.number);
            told.at.push(row.moderated_at);
        }
        if let (Some(endpoint), Some(event)) = (row.endpoint_id, told.event.last()) {
            let delivery = DeliveryId::of((*event).into(), endpoint.into());
            told.delivery.push(delivery.as_uuid());
            told.delivery_event.push(*event);
            told.endpoint.push(endpoint);
            pages.push(
                row.team_id.into(),
                EndpointId::from(endpoint),
                vec![delivery],
            );
        }
    }
    if !told.event.is_empty() {
        tell(conn, &told).await?;
    }
    pages.add_to(jobs);
    let media = told.media.into_iter().map(MediaId::from);
    Ok(media.zip(told.at).collect())
}

struct Decided {
    media_id: Uuid,
    team_id: Uuid,
    site_id: Uuid,
    number: i16,
    status: String,
    moderation_type: String,
    moderated_at: DateTime<Utc>,
    seconds: f64,
    endpoint_id: Option<Uuid>,
}

/// One row for each item and subscribed endpoint, items together.
async fn decide(
    conn: &mut PgConnection,
    verdicts: &[Conclusion<'_>],
) -> Result<Vec<Decided>, sqlx::Error> {
    let media: Vec<Uuid> = verdicts.iter().map(|v| v.media.as_uuid()).collect();
    let numbers: Vec<i16> = verdicts.iter().map(|v| number(v.step)).collect();
    let previous: Vec<&str> = verdicts
        .iter()
        .map(|v| v.step.from().status.as_str())
        .collect();
    let statuses: Vec<&str> = verdicts.iter().map(|v| v.step.to().as_str()).collect();
    let types: Vec<&str> = verdicts
        .iter()
        .map(|v| v.moderation_type.as_str())
        .collect();
    let details: Vec<&str> = verdicts.iter().map(|v| v.details).collect();
    let traces: Vec<&str> = verdicts.iter().map(|v| v.trace).collect();
    // The guard names the status and the number of the verdict in force: of two who saw the same, one wins. The time is
    // taken once the row is locked, so that an item's verdicts are in the order of their times.
    sqlx::query_as!(
        Decided,
        r#"
        with input as materialized (
            select *
            from unnest($1::uuid [], $2::smallint [], $3::text [], $4::text [], $5::text [], $6::text [], $7::text [])
                as i (media_id, number, previous_status, status, moderation_type, details, trace)
        ),
        concluded as (
            update media m
            set status = i.status, verdict = i.number
            from input i
            where m.id = i.media_id and m.status = i.previous_status and coalesce(m.verdict, 0) = i.number - 1
            returning m.id, m.team_id, m.site_id, m.created_at, i.*, clock_timestamp() as moderated_at
        ),
        new_verdicts as (
            insert into verdicts
                (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
            select id, number, status, previous_status, moderation_type, details::json, trace::json, moderated_at
            from concluded
        ),
        new_reviews as (
            insert into reviews (media_id, team_id, site_id, waiting_since)
            select id, team_id, site_id, moderated_at from concluded where status = 'pending_review'
        ),
        ended_reviews as (
            delete from reviews
            where media_id in (select id from concluded where previous_status = 'pending_review')
        )
        select
            c.id as "media_id!",
            c.team_id as "team_id!",
            c.site_id as "site_id!",
            c.number as "number!",
            c.status as "status!",
            c.moderation_type as "moderation_type!",
            c.moderated_at as "moderated_at!",
            extract(epoch from c.moderated_at - c.created_at)::float8 as "seconds!",
            e.id as "endpoint_id?"
        from concluded c
        left join webhook_endpoints e
            on e.site_id = c.site_id and e.disabled_at is null and 'media.moderated' = any(e.events)
        order by c.id
        "#,
        &media,
        &numbers,
        &previous as &[&str],
        &statuses as &[&str],
        &types as &[&str],
        &details as &[&str],
        &traces as &[&str],
    )
    .fetch_all(conn)
    .await
}

/// A verdict's number as it is stored. Beyond 32,767 it is one that exists, which the guard refuses.
fn number(step: Step) -> i16 {
    i16::try_from(step.number()).unwrap_or(i16::MAX)
}

#[derive(Default)]
struct Told {
    event: Vec<Uuid>,
    media: Vec<Uuid>,
    site: Vec<Uuid>,
    verdict: Vec<i16>,
    at: Vec<DateTime<Utc>>,
    delivery: Vec<Uuid>,
    delivery_event: Vec<Uuid>,
    endpoint: Vec<Uuid>,
}

async fn tell(conn: &mut PgConnection, told: &Told) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with new_events as (
            insert into events (id, media_id, site_id, verdict, occurred_at, kind)
            select e.*, $6
            from unnest($1::uuid [], $2::uuid [], $3::uuid [], $4::smallint [], $5::timestamptz []) as e
        )
        insert into deliveries (id, event_id, endpoint_id)
        select * from unnest($7::uuid [], $8::uuid [], $9::uuid [])
        ",
        &told.event,
        &told.media,
        &told.site,
        &told.verdict,
        &told.at,
        EventKind::MediaModerated.as_str(),
        &told.delivery,
        &told.delivery_event,
        &told.endpoint,
    )
    .execute(conn)
    .await?;
    Ok(())
}
