//! Items of the past with all that followed from them, in the shapes that submissions, workers and moderators store.
//!
//! Nothing here adds a job: deliveries have ended when they are added, so nothing is ever sent.

use chrono::{DateTime, Utc};
use domain::id::{DeliveryId, EndpointId, EventId, GroupVersionId, MediaId, SiteId};
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::PgConnection;

use super::TEAM;
use crate::{Error, analysis::ProviderReport, json::to_json};

/// An item.
#[derive(Debug, Serialize)]
pub struct Item {
    /// The item.
    pub id: MediaId,
    /// Its site.
    pub site_id: SiteId,
    /// Its status now.
    pub status: &'static str,
    /// The application's identifier.
    pub app_media_id: String,
    /// Its text.
    pub body: String,
    /// Its metadata as JSON.
    pub metadata: Box<RawValue>,
    /// Its author.
    pub author: String,
    /// What judged it.
    pub group_versions: Vec<GroupVersionId>,
    /// The number of its last verdict.
    pub verdict: i16,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
    /// Since when it waits for a person; none if it does not.
    pub waiting_since: Option<DateTime<Utc>>,
}

/// What a provider said about an item.
#[derive(Debug, Serialize)]
pub struct Analysis {
    /// The item.
    pub media_id: MediaId,
    /// The scores as JSON.
    pub scores: Box<RawValue>,
    /// The reports of the providers.
    pub providers: Vec<ProviderReport>,
    /// When it ended.
    pub created_at: DateTime<Utc>,
}

/// A verdict.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// The item.
    pub media_id: MediaId,
    /// Its number, from 1.
    pub number: i16,
    /// The status that it gave.
    pub status: &'static str,
    /// The status before.
    pub previous_status: &'static str,
    /// Who or what decided.
    pub moderation_type: &'static str,
    /// `moderation_details` as JSON.
    pub details: Box<RawValue>,
    /// The trace as JSON.
    pub trace: Box<RawValue>,
    /// When.
    pub moderated_at: DateTime<Utc>,
}

/// An event.
#[derive(Debug, Serialize)]
pub struct Event {
    /// The event.
    pub id: EventId,
    /// Its item.
    pub media_id: MediaId,
    /// The item's site.
    pub site_id: SiteId,
    /// `media.created` or `media.moderated`.
    pub kind: &'static str,
    /// The verdict that it tells.
    pub verdict: Option<i16>,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
}

/// A delivery that has ended.
#[derive(Debug, Serialize)]
pub struct Delivery {
    /// The delivery.
    pub id: DeliveryId,
    /// What it tells.
    pub event_id: EventId,
    /// Where it went.
    pub endpoint_id: EndpointId,
    /// Whether it arrived. Otherwise its attempts are spent.
    pub delivered: bool,
    /// How many attempts were made.
    pub attempts: i16,
    /// When its event happened.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: DateTime<Utc>,
}

/// An attempt of a delivery.
#[derive(Debug, Serialize)]
pub struct Attempt {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// Its number, from 1.
    pub number: i16,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// How long it took.
    pub duration_ms: i32,
    /// How it ended, in one word.
    pub outcome: &'static str,
    /// The answer's status.
    pub status_code: Option<i16>,
    /// The stored part of the answer.
    pub response_body: Option<&'static str>,
    /// Where it went.
    pub url: String,
    /// Why there was no answer.
    pub error: Option<&'static str>,
}

/// What is added in one transaction: a few hundred items, and what belongs to them.
#[derive(Debug, Default)]
pub struct Batch {
    /// The items.
    pub items: Vec<Item>,
    /// Their analyses.
    pub analyses: Vec<Analysis>,
    /// Their verdicts.
    pub verdicts: Vec<Verdict>,
    /// Their events.
    pub events: Vec<Event>,
    /// The deliveries of these events.
    pub deliveries: Vec<Delivery>,
    /// The attempts of these deliveries.
    pub attempts: Vec<Attempt>,
}

/// Stores a batch. Run it in a transaction. Statistics count the rows as they count all others: by the transaction that stored
/// them, in the hours that their times say.
pub async fn add(conn: &mut PgConnection, batch: &Batch) -> Result<(), Error> {
    sqlx::query(
        "
        with items as (
            select *
            from json_to_recordset($1::text::json) as i (
                id uuid, site_id uuid, status text, app_media_id text, body text, metadata json, author text,
                group_versions uuid [], verdict smallint, created_at timestamptz
            )
        )
        insert into media (
            id, team_id, site_id, status, content_type, app_media_id, body, metadata, author, group_versions, verdict, created_at
        )
        select id, $2, site_id, status, 'text', app_media_id, body, metadata, author, group_versions, verdict, created_at
        from items
        ",
    )
    .bind(to_json(&batch.items)?)
    .bind(TEAM.as_uuid())
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "
        insert into analyses (media_id, scores, providers, unchecked, created_at)
        select media_id, scores, providers, '[]', created_at
        from json_to_recordset($1::text::json) as a (media_id uuid, scores json, providers json, created_at timestamptz)
        ",
    )
    .bind(to_json(&batch.analyses)?)
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "
        insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
        select *
        from json_to_recordset($1::text::json) as v (
            media_id uuid, number smallint, status text, previous_status text, moderation_type text, details json, trace json,
            moderated_at timestamptz
        )
        ",
    )
    .bind(to_json(&batch.verdicts)?)
    .execute(&mut *conn)
    .await?;
    add_reviews(conn, batch).await?;
    add_webhooks(conn, batch).await?;
    // As the statement that accepts submissions books them.
    sqlx::query(
        "
        insert into usage as u (team_id, period_start, submissions, deliveries, granted)
        select team_id, billing_period(started_at, now()), $2, $3, $2 from subscriptions where team_id = $1
        on conflict (team_id, period_start) do update
        set
            submissions = u.submissions + excluded.submissions, deliveries = u.deliveries + excluded.deliveries,
            granted = excluded.granted
        ",
    )
    .bind(TEAM.as_uuid())
    .bind(count(batch.items.len()))
    .bind(count(batch.deliveries.len()))
    .execute(conn)
    .await?;
    Ok(())
}

/// After the verdicts: the desk sorts items by what the machine found.
async fn add_reviews(conn: &mut PgConnection, batch: &Batch) -> Result<(), Error> {
    sqlx::query(
        "
        insert into reviews (media_id, team_id, site_id, waiting_since)
        select id, $2, site_id, waiting_since
        from json_to_recordset($1::text::json) as i (id uuid, site_id uuid, waiting_since timestamptz)
        where waiting_since is not null
        ",
    )
    .bind(to_json(&batch.items)?)
    .bind(TEAM.as_uuid())
    .execute(conn)
    .await?;
    Ok(())
}

async fn add_webhooks(conn: &mut PgConnection, batch: &Batch) -> Result<(), Error> {
    sqlx::query(
        "
        insert into events (id, media_id, site_id, kind, verdict, occurred_at)
        select *
        from json_to_recordset($1::text::json) as e (
            id uuid, media_id uuid, site_id uuid, kind text, verdict smallint, occurred_at timestamptz
        )
        ",
    )
    .bind(to_json(&batch.events)?)
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "
        insert into deliveries (id, event_id, endpoint_id, state, attempts, next_attempt_at, created_at, ended_at)
        select
            id, event_id, endpoint_id, case when delivered then 'delivered' else 'pending' end, attempts, null, created_at,
            ended_at
        from json_to_recordset($1::text::json) as d (
            id uuid, event_id uuid, endpoint_id uuid, delivered boolean, attempts smallint, created_at timestamptz,
            ended_at timestamptz
        )
        ",
    )
    .bind(to_json(&batch.deliveries)?)
    .execute(&mut *conn)
    .await?;
    // What was given up is counted when its state changes.
    let failed = batch.deliveries.iter().filter(|d| !d.delivered);
    let failed: Vec<_> = failed.map(|delivery| delivery.id.as_uuid()).collect();
    sqlx::query("update deliveries set state = 'exhausted' where id = any($1)")
        .bind(failed)
        .execute(&mut *conn)
        .await?;
    sqlx::query(
        "
        insert into delivery_attempts
            (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body, url, error)
        select
            delivery_id, number, started_at, duration_ms, outcome, status_code, convert_to(response_body, 'UTF8'), url, error
        from json_to_recordset($1::text::json) as a (
            delivery_id uuid, number smallint, started_at timestamptz, duration_ms integer, outcome text,
            status_code smallint, response_body text, url text, error text
        )
        ",
    )
    .bind(to_json(&batch.attempts)?)
    .execute(conn)
    .await?;
    Ok(())
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
