//! The endpoints of all sites of a team, those that fail first.

use std::collections::HashMap;

use domain::id::{EndpointId, SiteId, TeamId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Endpoint, row::Row};
use crate::{Error, encryption::MasterKey, page::Page};

/// An endpoint, and what its site is called.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The name of its site.
    pub site_name: String,
}

/// The endpoints of a team, or of one of its sites: those that fail first, then those that are
/// disabled, then the others, the oldest first. Run it in a transaction that sees one moment.
pub async fn of_team(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    team: TeamId,
    site: Option<SiteId>,
    page: Page,
) -> Result<Vec<Placed>, Error> {
    let found = sqlx::query!(
        r#"
        with ranked as (
            select
                p.id, s.name,
                case
                    when p.disabled_at is not null then 1
                    when h.failing_since is not null or h.open_until is not null then 0
                    else 2
                end as rank
            from sites s
            join webhook_endpoints p on p.site_id = s.id
            left join webhook_endpoint_states h on h.endpoint_id = p.id
            where s.team_id = $1 and ($2::uuid is null or s.id = $2) and p.deleted_at is null
        )
        select r.id as "id!", r.name as "name!"
        from ranked r
        where $3::uuid is null or (r.rank, r.id) > (select a.rank, a.id from ranked a where a.id = $3)
        order by r.rank, r.id
        limit $4
        "#,
        team.as_uuid(),
        site.map(SiteId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(&mut *conn)
    .await?;
    let ids: Vec<Uuid> = found.iter().map(|row| row.id).collect();
    let mut endpoints = by_id(conn, key, &ids).await?;
    let placed = found.into_iter().filter_map(|row| {
        Some(Placed {
            endpoint: endpoints.remove(&row.id.into())?,
            site_name: row.name,
        })
    });
    Ok(placed.collect())
}

/// The endpoints of a team, or of one of its sites, whose last attempt failed: at most `limit`, and how many there are in
/// all. Those that were disabled come last; after a week they are left out. Run it in a transaction that sees one moment.
pub async fn failing(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    team: TeamId,
    site: Option<SiteId>,
    limit: i64,
) -> Result<(Vec<Endpoint>, i64), Error> {
    let found = sqlx::query!(
        r#"
        select p.id, count(*) over () as "of_all!"
        from sites s
        join webhook_endpoints p on p.site_id = s.id
        join webhook_endpoint_states h on h.endpoint_id = p.id
        where
            s.team_id = $1 and ($2::uuid is null or s.id = $2) and p.deleted_at is null
            and h.failing_since is not null
            and (p.disabled_at is null or p.disabled_at > now() - interval '7 days')
        order by p.disabled_at is not null, p.id
        limit $3
        "#,
        team.as_uuid(),
        site.map(SiteId::as_uuid),
        limit,
    )
    .fetch_all(&mut *conn)
    .await?;
    let Some(of_all) = found.first().map(|row| row.of_all) else {
        return Ok((Vec::new(), 0));
    };
    let ids: Vec<Uuid> = found.iter().map(|row| row.id).collect();
    let mut endpoints = by_id(conn, key, &ids).await?;
    let failing = found
        .into_iter()
        .filter_map(|row| endpoints.remove(&row.id.into()));
    Ok((failing.collect(), of_all))
}

async fn by_id(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    ids: &[Uuid],
) -> Result<HashMap<EndpointId, Endpoint>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            p.id, p.site_id, s.team_id, p.url, p.events, p.description, p.max_per_second, p.headers, p.created_at,
            p.disabled_at, p.disabled_reason,
            h.failing_since as "failing_since?", h.failures as "failures?", h.openings as "openings?",
            h.open_until as "open_until?", h.probe_until as "probe_until?",
            clock_timestamp() as "at!",
            (
                select count(*) filter (where d.state = 'pending')
                from (select state from deliveries where endpoint_id = p.id order by id desc limit 1000) d
            ) as "waiting!"
        from webhook_endpoints p
        join sites s on s.id = p.site_id
        left join webhook_endpoint_states h on h.endpoint_id = p.id
        where p.id = any($1)
        "#,
        ids,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| row.open(key).map(|endpoint| (endpoint.id, endpoint)))
        .collect()
}
