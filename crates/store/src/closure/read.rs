//! Reading closures: one, or those within reach.

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    closure::ClosureState,
    id::{ActorId, ClosureId, SiteId, TeamId},
    reach::Reach,
};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{ClosedSite, Closure, SITES};
use crate::{Error, page::Page};

/// A closure; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    closure: ClosureId,
) -> Result<Option<Closure>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            c.id, c.team_id, c.site_id, coalesce(of.name, t.name) as "name!", c.state, c.phase = 'grace' as "is_grace!", c.erase_at, c.waits_for, c.error,
            c.created_by, c.created_at, c.ended_at,
            array_to_json(
                array(
                    select json_build_object(
                        'site_id', s.site_id, 'name', closed.name, 'export_id', s.export_id, 'erasure_id', s.erasure_id
                    )
                    from closure_sites s
                    join sites closed on closed.id = s.site_id
                    where s.closure_id = c.id
                    order by s.site_id
                    limit $3
                )
            ) as "sites!: Json<Vec<ClosedSite>>"
        from closures c
        join teams t on t.id = c.team_id
        left join sites of on of.id = c.site_id
        where c.id = $1 and ($2::uuid is null or c.team_id = $2)
        "#,
        closure.as_uuid(),
        reach.team().map(TeamId::as_uuid),
        SITES,
    )
    .fetch_optional(conn)
    .await?;
    row.map(Closure::try_from).transpose()
}

/// Closures within reach, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<Closure>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            c.id, c.team_id, c.site_id, coalesce(of.name, t.name) as "name!", c.state, c.phase = 'grace' as "is_grace!", c.erase_at, c.waits_for, c.error,
            c.created_by, c.created_at, c.ended_at,
            array_to_json(
                array(
                    select json_build_object(
                        'site_id', s.site_id, 'name', closed.name, 'export_id', s.export_id, 'erasure_id', s.erasure_id
                    )
                    from closure_sites s
                    join sites closed on closed.id = s.site_id
                    where s.closure_id = c.id
                    order by s.site_id
                    limit $4
                )
            ) as "sites!: Json<Vec<ClosedSite>>"
        from closures c
        join teams t on t.id = c.team_id
        left join sites of on of.id = c.site_id
        where ($1::uuid is null or c.team_id = $1) and ($2::uuid is null or c.id < $2)
        order by c.id desc
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
        SITES,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Closure::try_from).collect()
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    site_id: Option<Uuid>,
    name: String,
    state: String,
    is_grace: bool,
    erase_at: DateTime<Utc>,
    waits_for: Option<String>,
    error: Option<String>,
    created_by: Option<Uuid>,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    sites: Json<Vec<ClosedSite>>,
}

impl TryFrom<Row> for Closure {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let state = match row.state.parse::<State>()? {
            State::Running if row.is_grace => ClosureState::Grace,
            State::Running => ClosureState::Erasing,
            State::Finished => ClosureState::Closed,
            State::Cancelled => ClosureState::Cancelled,
            State::Failed => ClosureState::Failed,
        };
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.into(),
            site: row.site_id.map(SiteId::from),
            name: row.name,
            state,
            erase_at: row.erase_at,
            waits_for: row.waits_for.map(|name| name.parse()).transpose()?,
            sites: row.sites.0,
            error: row.error,
            created_by: row.created_by.map(ActorId::from),
            created_at: row.created_at,
            ended_at: row.ended_at,
        })
    }
}
