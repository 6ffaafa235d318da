//! Reading exports: one, or those within reach. Exports that have expired look as if they did not exist.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, ExportId, TeamId},
    reach::Reach,
};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::Export;
use crate::{Error, page::Page};

/// An export; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    export: ExportId,
) -> Result<Option<Export>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select id, team_id, site_id, created_by, created_at, upto, expires_at
        from exports
        where id = $1 and ($2::uuid is null or team_id = $2) and expires_at > now()
        ",
        export.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Export::from))
}

/// Exports within reach, the newest first.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Export>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select id, team_id, site_id, created_by, created_at, upto, expires_at
        from exports
        where ($1::uuid is null or team_id = $1) and ($2::uuid is null or id < $2) and expires_at > now()
        order by id desc
        limit $3
        ",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Export::from).collect())
}

/// Removes exports that have expired, and returns how many they were.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let removed = sqlx::query!("delete from exports where expires_at <= now()")
        .execute(pool)
        .await?;
    Ok(removed.rows_affected())
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    site_id: Uuid,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    upto: Uuid,
    expires_at: DateTime<Utc>,
}

impl From<Row> for Export {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.into(),
            team: row.team_id.into(),
            site: row.site_id.into(),
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            upto: row.upto,
            expires_at: row.expires_at,
        }
    }
}
