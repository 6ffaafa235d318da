//! One item: what was submitted, and everything that happened to it.

use chrono::{DateTime, Utc};
use domain::{
    id::{GroupVersionId, MediaId, RuleGroupId, SiteId, TeamId},
    media::{ContentType, Status},
    reach::Reach,
};
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};
use telemetry::trace::{Context, TraceId};
use uuid::Uuid;

use super::{Event, KnownImage, Verdict, events_with_deliveries, known, verdicts};
use crate::Error;

/// An item.
#[derive(Debug)]
pub struct Item {
    /// The item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// The application's own identifier.
    pub app_media_id: Option<String>,
    /// What was submitted.
    pub content_type: ContentType,
    /// Its status.
    pub status: Status,
    /// The number of the verdict in force; none while pending.
    pub verdict: Option<i16>,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
    /// When its content was removed; none if it was not.
    pub content_removed_at: Option<DateTime<Utc>>,
    /// When it was erased; none if it was not.
    pub erased_at: Option<DateTime<Utc>>,
    /// The text that was submitted.
    pub body: Option<String>,
    /// The URL of its image.
    pub content_url: Option<String>,
    /// Its author, from the metadata; none if its site named none when it was accepted.
    pub author: Option<String>,
    /// Its trace.
    pub trace: TraceId,
    /// What the application sent along, unchanged.
    pub metadata: Option<Box<RawValue>>,
    /// What is known of its image.
    pub image: Option<KnownImage>,
    /// What the providers said, once they were asked.
    pub analysis: Option<Analysis>,
    /// The versions of rule groups that judge it: those that were live when it was accepted.
    pub group_versions: Vec<PinnedVersion>,
    /// The verdicts, the last one first; at most the last 1,000.
    pub verdicts: Vec<Verdict>,
    /// The events that are still stored, the last one first; at most the last 1,000.
    pub events: Vec<Event>,
}

/// What an analysis found. All three are JSON as the analysing step wrote it.
#[derive(Debug)]
pub struct Analysis {
    /// Score by category, over all providers; none when none of them could score it.
    pub scores: Option<Box<RawValue>>,
    /// What each provider said: [`crate::analysis::ProviderReport`].
    pub providers: Box<RawValue>,
    /// What could not be checked: [`domain::decision::Unchecked`].
    pub unchecked: Box<RawValue>,
    /// When it ended.
    pub created_at: DateTime<Utc>,
}

/// A version of a rule group.
#[derive(Clone, Debug)]
pub struct PinnedVersion {
    /// The version.
    pub id: GroupVersionId,
    /// Its number; a group's versions count from 1.
    pub number: i32,
    /// The group.
    pub group: RuleGroupId,
    /// The group's present name.
    pub group_name: String,
}

/// Everything about an item; none if there is none within reach. Run it in a transaction that sees
/// one moment, so that every verdict comes with its event.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<Item>, Error> {
    let row = sqlx::query!(
        r#"
        select
            m.team_id,
            m.site_id,
            m.app_media_id,
            m.content_type,
            m.status,
            m.verdict,
            m.created_at,
            m.content_removed_at,
            m.erased_at,
            m.body,
            m.content_url,
            m.author,
            m.traceparent,
            m.metadata as "metadata: Json<Box<RawValue>>",
            m.group_versions
        from media m
        where m.id = $1 and ($2::uuid is null or m.team_id = $2)
        "#,
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Item {
        media,
        team: row.team_id.into(),
        site: row.site_id.into(),
        app_media_id: row.app_media_id,
        content_type: row.content_type.parse()?,
        status: row.status.parse()?,
        verdict: row.verdict,
        created_at: row.created_at,
        content_removed_at: row.content_removed_at,
        erased_at: row.erased_at,
        body: row.body,
        content_url: row.content_url,
        author: row.author,
        trace: Context::of_stored(media.as_uuid().into_bytes(), row.traceparent.as_deref()).trace(),
        metadata: row.metadata.map(|metadata| metadata.0),
        image: known(conn, media).await?,
        analysis: analysis(conn, media).await?,
        group_versions: versions(conn, &row.group_versions).await?,
        verdicts: verdicts(conn, media).await?,
        events: events_with_deliveries(conn, media).await?,
    }))
}

async fn analysis(conn: &mut PgConnection, media: MediaId) -> Result<Option<Analysis>, Error> {
    let row = sqlx::query!(
        r#"
        select
            scores as "scores: Json<Box<RawValue>>",
            providers as "providers: Json<Box<RawValue>>",
            unchecked as "unchecked: Json<Box<RawValue>>",
            created_at
        from analyses
        where media_id = $1
        "#,
        media.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| Analysis {
        scores: row.scores.map(|scores| scores.0),
        providers: row.providers.0,
        unchecked: row.unchecked.0,
        created_at: row.created_at,
    }))
}

/// In the order in which they are evaluated.
async fn versions(conn: &mut PgConnection, pinned: &[Uuid]) -> Result<Vec<PinnedVersion>, Error> {
    let versions = sqlx::query_as!(
        PinnedVersion,
        r#"
        select v.id, v.number, g.id as "group", g.name as group_name
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        where v.id = any($1)
        order by array_position($1, v.id)
        "#,
        pinned,
    )
    .fetch_all(conn)
    .await?;
    Ok(versions)
}
