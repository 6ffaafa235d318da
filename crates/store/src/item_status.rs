//! Status queries: the key is checked and the item found in one statement, shared by all callers
//! that wait.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};
use domain::{
    id::{MediaId, SiteId},
    key::SecretHash,
    media::{ContentType, ModerationType, Status, StatusVocabulary},
};
use serde_json::value::RawValue;
use sqlx::{PgPool, types::Json};
use uuid::Uuid;

use crate::{
    Error,
    gather::{Bounds, Loader},
};

/// What a valid key learns about an item.
#[derive(Clone, Debug)]
pub enum Answer {
    /// There is no such item, or it is another site's.
    UnknownMedia,
    /// Its status.
    Media(Arc<MediaStatus>),
}

/// An item's status.
#[derive(Debug)]
pub struct MediaStatus {
    /// The item.
    pub media: MediaId,
    /// The application's own identifier.
    pub app_media_id: Option<String>,
    /// Its site.
    pub site: SiteId,
    /// What was submitted.
    pub content_type: ContentType,
    /// Its state.
    pub status: Status,
    /// How the site wants the state spelled.
    pub vocabulary: StatusVocabulary,
    /// Who or what decided; none while pending.
    pub moderation_type: Option<ModerationType>,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
    /// When it was decided.
    pub moderated_at: Option<DateTime<Utc>>,
    /// `moderation_details`, as its event carried them.
    pub details: Option<Box<RawValue>>,
    /// What the application sent along, unchanged.
    pub metadata: Option<Box<RawValue>>,
}

/// Answers status queries. A key that is unknown or disabled finds nothing.
#[derive(Clone)]
pub struct Statuses {
    loader: Loader<(SecretHash, MediaId), Answer>,
}

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 4 << 20,
    batch: 128,
    batch_bytes: 1 << 20,
    // One runner: calls that wait while a statement runs share the next one. Two runners would
    // halve both.
    runners: 1,
};

impl Statuses {
    /// Starts the shared query.
    pub fn new(pool: PgPool) -> Self {
        let loader = Loader::start(pool, "statuses", BOUNDS, |pool, asked| async move {
            load(&pool, &asked).await
        });
        Self { loader }
    }

    /// An item's status, as far as the key may see it. None: the key is not valid.
    pub async fn find(&self, key: SecretHash, media: MediaId) -> Result<Option<Answer>, Error> {
        self.loader.load((key, media)).await
    }
}

async fn load(
    pool: &PgPool,
    asked: &[(SecretHash, MediaId)],
) -> Result<HashMap<(SecretHash, MediaId), Answer>, Error> {
    let hashes: Vec<Vec<u8>> = asked
        .iter()
        .map(|(key, _)| key.as_bytes().to_vec())
        .collect();
    let ids: Vec<Uuid> = asked.iter().map(|(_, media)| media.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select
            q.ordinal as "ordinal!",
            s.status_vocabulary,
            m.id as "media_id?",
            m.app_media_id,
            s.id as site_id,
            m.content_type as "content_type?",
            m.status as "status?",
            v.moderation_type as "moderation_type?",
            m.created_at as "created_at?",
            v.moderated_at as "moderated_at?",
            v.details as "details?: Json<Box<RawValue>>",
            m.metadata as "metadata?: Json<Box<RawValue>>"
        from unnest($1::bytea [], $2::uuid []) with ordinality as q (hash, media_id, ordinal)
        join site_keys k on k.hash = q.hash and k.disabled_at is null
        join sites s on s.id = k.site_id
        left join media m
            on m.id = q.media_id and m.site_id = s.id and (m.erased_at is null or m.verdict is not null)
        left join verdicts v on v.media_id = m.id and v.number = m.verdict
        "#,
        &hashes,
        &ids,
    )
    .fetch_all(pool)
    .await?;

    let mut answers = HashMap::with_capacity(rows.len());
    for row in rows {
        let index = usize::try_from(row.ordinal - 1).unwrap_or(usize::MAX);
        let Some(question) = asked.get(index) else {
            continue;
        };
        let answer = match (row.media_id, row.content_type, row.status, row.created_at) {
            (Some(media), Some(content_type), Some(status), Some(created_at)) => {
                Answer::Media(Arc::new(MediaStatus {
                    media: media.into(),
                    app_media_id: row.app_media_id,
                    site: row.site_id.into(),
                    content_type: content_type.parse()?,
                    status: status.parse()?,
                    vocabulary: row.status_vocabulary.parse()?,
                    moderation_type: row.moderation_type.map(|text| text.parse()).transpose()?,
                    created_at,
                    moderated_at: row.moderated_at,
                    details: row.details.map(|details| details.0),
                    metadata: row.metadata.map(|metadata| metadata.0),
                }))
            }
            _ => Answer::UnknownMedia,
        };
        answers.insert(*question, answer);
    }
    Ok(answers)
}
