//! Notes that a team's people write about an item, for each other.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, MediaId, NoteId, ReviewId, TeamId},
    review::NoteText,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// The most notes of an item that are shown.
const SHOWN: i64 = 100;

/// A note to write.
#[derive(Clone, Copy, Debug)]
pub struct NewNote<'a> {
    /// About which item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// During which review; none: on the page of the item.
    pub review: Option<ReviewId>,
    /// Who writes it.
    pub by: ActorId,
    /// The text.
    pub body: &'a NoteText,
}

/// A note.
#[derive(Clone, Debug)]
pub struct Note {
    /// The note.
    pub id: NoteId,
    /// Who wrote it.
    pub by: ActorId,
    /// The name of the person or of the token.
    pub name: Option<String>,
    /// The text.
    pub body: String,
    /// When.
    pub written_at: DateTime<Utc>,
}

/// Writes a note.
pub async fn add(conn: &mut PgConnection, note: NewNote<'_>) -> Result<NoteId, Error> {
    let id = NoteId::from(Uuid::now_v7());
    sqlx::query!(
        "
        insert into review_notes (id, media_id, team_id, task_id, actor_id, body)
        values ($1, $2, $3, $4, $5, $6)
        ",
        id.as_uuid(),
        note.media.as_uuid(),
        note.team.as_uuid(),
        note.review.map(ReviewId::as_uuid),
        note.by.as_uuid(),
        note.body.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(id)
}

/// The last notes about an item, the oldest of them first; only those of one review, if it is named.
pub async fn of_media(
    conn: &mut PgConnection,
    media: MediaId,
    only: Option<ReviewId>,
) -> Result<Vec<Note>, Error> {
    let mut notes = sqlx::query_as!(
        Note,
        r#"
        select n.id, n.actor_id as by, coalesce(u.name, t.name) as name, n.body, n.written_at
        from review_notes n
        left join memberships m on m.id = n.actor_id
        left join users u on u.id = m.user_id
        left join management_tokens t on t.id = n.actor_id
        where n.media_id = $1 and ($3::uuid is null or n.task_id = $3)
        order by n.id desc
        limit $2
        "#,
        media.as_uuid(),
        SHOWN,
        only.map(ReviewId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    notes.reverse();
    Ok(notes)
}
