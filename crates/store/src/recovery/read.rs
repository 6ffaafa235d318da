//! Reading recoveries: one, or those of an endpoint.

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    id::{ActorId, EndpointId, RecoveryId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Recovery;
use crate::{Error, id_time::made_at, page::Page};

/// A recovery; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    recovery: RecoveryId,
) -> Result<Option<Recovery>, Error> {
    let row = sqlx::query_as!(
        Row,
        "
        select
            id, endpoint_id, site_id, team_id, kind, event, since, until, walked_to, state, looked_at, resent, created_by,
            created_at, ended_at, error
        from webhook_recoveries
        where id = $1 and ($2::uuid is null or team_id = $2)
        ",
        recovery.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Recovery::try_from).transpose()
}

/// An endpoint's recoveries, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    endpoint: EndpointId,
    page: Page,
) -> Result<Vec<Recovery>, Error> {
    let rows = sqlx::query_as!(
        Row,
        "
        select
            id, endpoint_id, site_id, team_id, kind, event, since, until, walked_to, state, looked_at, resent, created_by,
            created_at, ended_at, error
        from webhook_recoveries
        where endpoint_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3
        ",
        endpoint.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Recovery::try_from).collect()
}

struct Row {
    id: Uuid,
    endpoint_id: Uuid,
    site_id: Uuid,
    team_id: Uuid,
    kind: String,
    event: Option<String>,
    since: DateTime<Utc>,
    until: DateTime<Utc>,
    walked_to: Option<Uuid>,
    state: String,
    looked_at: i64,
    resent: i64,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    error: Option<String>,
}

impl TryFrom<Row> for Recovery {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let state: State = row.state.parse()?;
        let reached = match (state, row.walked_to.and_then(made_at)) {
            (State::Finished, _) => Some(row.until),
            // The walk begins a little before `since` and ends a little after `until`.
            (_, walked_to) => walked_to.map(|at| at.clamp(row.since, row.until)),
        };
        Ok(Self {
            id: row.id.into(),
            endpoint: row.endpoint_id.into(),
            site: row.site_id.into(),
            team: row.team_id.into(),
            kind: row.kind.parse()?,
            event: row.event.map(|kind| kind.parse()).transpose()?,
            since: row.since,
            until: row.until,
            reached,
            state,
            looked_at: row.looked_at,
            resent: row.resent,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            ended_at: row.ended_at,
            error: row.error,
        })
    }
}
