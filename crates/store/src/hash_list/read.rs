//! Reading lists: one, one that is locked, or all within reach.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, HashListId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::HashList;
use crate::{Error, page::Page};

/// A list; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
) -> Result<Option<HashList>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, description, kind, max_distance, revision, entries, created_by, created_at
        from hash_lists
        where id = $1 and ($2::uuid is null or team_id = $2 or team_id is null) and deleted_at is null
        ",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(HashList::try_from).transpose()
}

/// A list that nobody else changes until the transaction ends; none if there is none within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
) -> Result<Option<HashList>, Error> {
    sqlx::query_scalar!(
        "select id from hash_lists where id = $1 and ($2::uuid is null or team_id = $2) for no key update",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    // It is read after the lock, so that it shows the changes that the lock waited for.
    find(conn, reach, list).await
}

/// Lists within reach, the oldest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<HashList>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, description, kind, max_distance, revision, entries, created_by, created_at
        from hash_lists
        where
            ($1::uuid is null or team_id = $1 or team_id is null)
            and ($2::uuid is null or id > $2) and deleted_at is null
        order by id
        limit $3
        ",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(HashList::try_from).collect()
}

/// Lists that all teams share, the oldest first.
pub async fn shared(conn: &mut PgConnection, page: Page) -> Result<Vec<HashList>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select id, team_id, name, description, kind, max_distance, revision, entries, created_by, created_at
        from hash_lists
        where team_id is null and ($1::uuid is null or id > $1) and deleted_at is null
        order by id
        limit $2
        ",
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(HashList::try_from).collect()
}

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) team_id: Option<Uuid>,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) kind: String,
    pub(super) max_distance: i16,
    pub(super) revision: i64,
    pub(super) entries: i64,
    pub(super) created_by: Option<Uuid>,
    pub(super) created_at: DateTime<Utc>,
}

impl TryFrom<Row> for HashList {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.map(TeamId::from),
            name: row.name,
            description: row.description,
            kind: row.kind.parse()?,
            max_distance: u32::try_from(row.max_distance).unwrap_or(0),
            revision: row.revision,
            entries: row.entries,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
        })
    }
}
