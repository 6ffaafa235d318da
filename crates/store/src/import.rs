//! Storing the items of an archive, with their analyses, verdicts, images and notes, as they were elsewhere.
//!
//! Nothing here adds a job, an event or a delivery, and nothing is booked. An item that is there already stays as it is, so an
//! import can be repeated. Statistics count the rows as they count all others: in the hours that their times say.

use chrono::{DateTime, Utc};
use domain::id::{MediaId, SiteId, TeamId};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, json::to_json};

/// An item.
#[derive(Debug, Serialize)]
pub struct Item {
    /// The item.
    pub id: MediaId,
    /// Its status.
    pub status: String,
    /// What was submitted.
    pub content_type: String,
    /// The application's identifier.
    pub app_media_id: Option<String>,
    /// Its author.
    pub author: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// The URL of its image.
    pub content_url: Option<String>,
    /// Its metadata: JSON as text.
    pub metadata: Option<String>,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
    /// When its content was removed.
    pub content_removed_at: Option<DateTime<Utc>>,
    /// Its trace, in hexadecimal.
    pub traceparent: Option<String>,
    /// What judged it.
    pub group_versions: Vec<Uuid>,
    /// The number of its last verdict.
    pub verdict: i16,
    /// Since when it waits for a person; none if it does not.
    pub waiting_since: Option<DateTime<Utc>>,
}

/// What is known of an item's image.
#[derive(Debug, Serialize)]
pub struct Image {
    /// The item.
    pub media_id: MediaId,
    /// Its format.
    pub format: Option<String>,
    /// The file in base64; none if it is not kept.
    pub base64: Option<String>,
    /// Pixels.
    pub width: Option<i32>,
    /// Pixels.
    pub height: Option<i32>,
    /// Of the file, in hexadecimal.
    pub sha256: Option<String>,
    /// Of the picture, in hexadecimal.
    pub pdq: Option<String>,
    /// From 0 to 100.
    pub pdq_quality: Option<i16>,
    /// Why it could not be analysed.
    pub problem: Option<String>,
}

/// What the providers said about an item. The JSON is text here, because its strings may contain what Postgres takes in JSON
/// but not in text.
#[derive(Debug, Serialize)]
pub struct Analysis {
    /// The item.
    pub media_id: MediaId,
    /// JSON.
    pub scores: Option<String>,
    /// JSON.
    pub providers: String,
    /// JSON.
    pub unchecked: String,
    /// JSON.
    pub gaps: Option<String>,
    /// Whether providers scored the image.
    pub image_scored: Option<bool>,
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
    pub status: String,
    /// The status before.
    pub previous_status: String,
    /// Who or what decided.
    pub moderation_type: String,
    /// JSON.
    pub details: String,
    /// JSON.
    pub trace: String,
    /// When.
    pub moderated_at: DateTime<Utc>,
}

/// A note about an item.
#[derive(Debug, Serialize)]
pub struct Note {
    /// The note.
    pub id: Uuid,
    /// The item.
    pub media_id: MediaId,
    /// Who wrote it, where it was written.
    pub actor_id: Uuid,
    /// What it says.
    pub body: String,
    /// When.
    pub written_at: DateTime<Utc>,
}

/// What is stored in one transaction.
#[derive(Debug, Default)]
pub struct Batch {
    /// The items.
    pub items: Vec<Item>,
    /// Their images.
    pub images: Vec<Image>,
    /// Their analyses.
    pub analyses: Vec<Analysis>,
    /// Verdicts, of these items or of earlier ones.
    pub verdicts: Vec<Verdict>,
    /// Notes, of these items or of earlier ones.
    pub notes: Vec<Note>,
}

/// Those of these items that are there, with their sites.
pub async fn existing(
    conn: &mut PgConnection,
    items: &[Uuid],
) -> Result<Vec<(MediaId, SiteId)>, Error> {
    let rows = sqlx::query!("select id, site_id from media where id = any($1)", items)
        .fetch_all(conn)
        .await?;
    let existing = rows.into_iter();
    Ok(existing
        .map(|row| (row.id.into(), row.site_id.into()))
        .collect())
}

/// Stores a batch, whose items are not there yet. Run it in a transaction.
pub async fn add(
    conn: &mut PgConnection,
    (team, site): (TeamId, SiteId),
    batch: &Batch,
) -> Result<(), Error> {
    add_items(conn, (team, site), &batch.items).await?;
    add_images(conn, site, &batch.images).await?;
    add_analyses(conn, &batch.analyses).await?;
    add_verdicts(conn, &batch.verdicts).await?;
    add_notes(conn, team, &batch.notes).await?;
    // After the verdicts: the desk sorts items by what the machine found.
    add_reviews(conn, (team, site), &batch.items).await
}

async fn add_items(
    conn: &mut PgConnection,
    (team, site): (TeamId, SiteId),
    items: &[Item],
) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into media (
            id, team_id, site_id, status, content_type, app_media_id, author, body, content_url, metadata, created_at,
            content_removed_at, traceparent, group_versions, verdict
        )
        select
            id, $2, $3, status, content_type, app_media_id, author, body, content_url, metadata::json, created_at,
            content_removed_at, decode(traceparent, 'hex'), group_versions, verdict
        from json_to_recordset($1::text::json) as i (
            id uuid, status text, content_type text, app_media_id text, author text, body text, content_url text,
            metadata text, created_at timestamptz, content_removed_at timestamptz, traceparent text,
            group_versions uuid [], verdict smallint
        )
        ",
        to_json(&items)?,
        team.as_uuid(),
        site.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn add_images(conn: &mut PgConnection, site: SiteId, images: &[Image]) -> Result<(), Error> {
    if images.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "
        insert into media_images
            (media_id, site_id, format, bytes, width, height, sha256, pdq, pdq_quality, problem)
        select
            media_id, $2, format, decode(base64, 'base64'), width, height, decode(sha256, 'hex'), decode(pdq, 'hex'),
            pdq_quality, problem
        from json_to_recordset($1::text::json) as i (
            media_id uuid, format text, base64 text, width integer, height integer, sha256 text, pdq text,
            pdq_quality smallint, problem text
        )
        ",
        to_json(&images)?,
        site.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn add_analyses(conn: &mut PgConnection, analyses: &[Analysis]) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into analyses (media_id, scores, providers, unchecked, gaps, image_scored, created_at)
        select media_id, scores::json, providers::json, unchecked::json, gaps::json, image_scored, created_at
        from json_to_recordset($1::text::json) as a (
            media_id uuid, scores text, providers text, unchecked text, gaps text, image_scored boolean,
            created_at timestamptz
        )
        ",
        to_json(&analyses)?,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Verdicts of items that were there before may be there, too. Numbers beyond the verdict in force stay free for decisions here.
async fn add_verdicts(conn: &mut PgConnection, verdicts: &[Verdict]) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
        select
            v.media_id, v.number, v.status, v.previous_status, v.moderation_type, v.details::json, v.trace::json,
            v.moderated_at
        from json_to_recordset($1::text::json) as v (
            media_id uuid, number smallint, status text, previous_status text, moderation_type text, details text,
            trace text, moderated_at timestamptz
        )
        join media m on m.id = v.media_id
        where v.number <= m.verdict
        on conflict (media_id, number) do nothing
        ",
        to_json(&verdicts)?,
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn add_notes(conn: &mut PgConnection, team: TeamId, notes: &[Note]) -> Result<(), Error> {
    if notes.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "
        insert into review_notes (id, media_id, team_id, actor_id, body, written_at)
        select id, media_id, $2, actor_id, body, written_at
        from json_to_recordset($1::text::json) as n (
            id uuid, media_id uuid, actor_id uuid, body text, written_at timestamptz
        )
        on conflict (id) do nothing
        ",
        to_json(&notes)?,
        team.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn add_reviews(
    conn: &mut PgConnection,
    (team, site): (TeamId, SiteId),
    items: &[Item],
) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into reviews (media_id, team_id, site_id, waiting_since)
        select id, $2, $3, waiting_since
        from json_to_recordset($1::text::json) as i (id uuid, status text, waiting_since timestamptz)
        where waiting_since is not null and status = 'pending_review'
        ",
        to_json(&items)?,
        team.as_uuid(),
        site.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
