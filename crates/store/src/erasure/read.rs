//! Reading erasures: one, or those of a team.

use chrono::{DateTime, Utc};
use domain::{
    erasure::Counts,
    id::{ActorId, ErasureId, SiteId, TeamId},
    reach::Reach,
};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::Erasure;
use crate::{Error, page::Page};

/// An erasure; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    erasure: ErasureId,
) -> Result<Option<Erasure>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, site_id, kind, state, counts as "counts: Json<Counts>", certificate, error, created_by, created_at, ended_at
        from erasures
        where id = $1 and ($2::uuid is null or team_id = $2)
        "#,
        erasure.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Erasure::try_from).transpose()
}

/// Erasures within reach, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<Erasure>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, site_id, kind, state, counts as "counts: Json<Counts>", certificate, error, created_by, created_at, ended_at
        from erasures
        where ($1::uuid is null or team_id = $1) and ($2::uuid is null or id < $2)
        order by id desc
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Erasure::try_from).collect()
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    site_id: Option<Uuid>,
    kind: String,
    state: String,
    counts: Json<Counts>,
    certificate: Option<String>,
    error: Option<String>,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Erasure {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.into(),
            site: row.site_id.map(SiteId::from),
            kind: row.kind.parse()?,
            state: row.state.parse()?,
            counts: row.counts.0,
            certificate: row.certificate,
            error: row.error,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            ended_at: row.ended_at,
        })
    }
}
