//! Reading scans: one, or those of a list.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, HashListId, HashScanId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Scan;
use crate::{Error, id_time::made_at, page::Page};

/// A scan; none if there is none over items within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    scan: HashScanId,
) -> Result<Option<Scan>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select
            id, list_id, team_id, since_revision, until, oldest, state, walked_to, looked_at, matched, created_by,
            created_at, ended_at, error
        from hash_scans
        where id = $1 and ($2::uuid is null or team_id = $2)
        ",
        scan.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Scan::try_from).transpose()
}

/// A list's scans over items within reach, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
    page: Page,
) -> Result<Vec<Scan>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select
            id, list_id, team_id, since_revision, until, oldest, state, walked_to, looked_at, matched, created_by,
            created_at, ended_at, error
        from hash_scans
        where list_id = $1 and ($2::uuid is null or team_id = $2) and ($3::uuid is null or id < $3)
        order by id desc
        limit $4
        ",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Scan::try_from).collect()
}

struct Row {
    id: Uuid,
    list_id: Uuid,
    team_id: Option<Uuid>,
    since_revision: Option<i64>,
    until: DateTime<Utc>,
    oldest: Option<DateTime<Utc>>,
    state: String,
    walked_to: Option<Uuid>,
    looked_at: i64,
    matched: i64,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    error: Option<String>,
}

impl TryFrom<Row> for Scan {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            list: row.list_id.into(),
            team: row.team_id.map(TeamId::from),
            since_revision: row.since_revision,
            until: row.until,
            oldest: row.oldest,
            reached: row.walked_to.and_then(made_at),
            state: row.state.parse()?,
            looked_at: row.looked_at,
            matched: row.matched,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            ended_at: row.ended_at,
            error: row.error,
        })
    }
}
