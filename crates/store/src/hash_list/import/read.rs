//! Reading imports: one, or those of a list.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, HashImportId, HashListId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Import;
use crate::{Error, page::Page};

/// An import; none if there is none into a list within reach. Shared lists are within the reach of
/// operators only.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    import: HashImportId,
) -> Result<Option<Import>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select
            id, list_id, team_id, algorithm, state, total_lines, lines, added, existing, refused, created_by, created_at,
            ended_at, error
        from hash_imports
        where id = $1 and ($2::uuid is null or team_id = $2)
        ",
        import.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Import::try_from).transpose()
}

/// A list's imports, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    list: HashListId,
    page: Page,
) -> Result<Vec<Import>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select
            id, list_id, team_id, algorithm, state, total_lines, lines, added, existing, refused, created_by, created_at,
            ended_at, error
        from hash_imports
        where list_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3
        ",
        list.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Import::try_from).collect()
}

struct Row {
    id: Uuid,
    list_id: Uuid,
    team_id: Option<Uuid>,
    algorithm: String,
    state: String,
    total_lines: i64,
    lines: i64,
    added: i64,
    existing: i64,
    refused: i64,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    error: Option<String>,
}

impl TryFrom<Row> for Import {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            list: row.list_id.into(),
            team: row.team_id.map(TeamId::from),
            algorithm: row.algorithm.parse()?,
            state: row.state.parse()?,
            total_lines: row.total_lines,
            lines: row.lines,
            added: row.added,
            existing: row.existing,
            refused: row.refused,
            error: row.error,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            ended_at: row.ended_at,
        })
    }
}
