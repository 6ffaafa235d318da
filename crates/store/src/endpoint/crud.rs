//! Endpoints as their owners create, read, change and delete them.

mod write;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{EndpointId, SiteId, TeamId},
    reach::Reach,
    webhook::{CustomHeader, Health},
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::write::{add, change, delete, disable, enable, retry_now};
use crate::{
    Error,
    encryption::MasterKey,
    endpoint::{health, open_headers, required},
    page::Page,
};

/// What an owner decides about an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where it is.
    pub url: String,
    /// The kinds of event that it wants.
    pub events: Vec<EventKind>,
    /// What it is for.
    pub description: Option<String>,
    /// Its limit of requests per second. `None` means no limit.
    pub max_per_second: Option<i32>,
    /// What goes with every request.
    pub headers: Vec<CustomHeader>,
}

/// An endpoint that was not deleted.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The endpoint.
    pub id: EndpointId,
    /// Its site.
    pub site: SiteId,
    /// Its site's team.
    pub team: TeamId,
    /// What its owner decided.
    pub settings: Settings,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was disabled, if it is.
    pub disabled_at: Option<DateTime<Utc>>,
    /// Why.
    pub disabled_reason: Option<String>,
    /// Its delivery health.
    pub health: Health,
    /// When all of this was read, by Postgres's clock.
    pub at: DateTime<Utc>,
    /// How many of its last 1,000 deliveries have not ended.
    pub waiting: i64,
}

/// The endpoints that meet a condition. The key opens their headers.
macro_rules! select {
    ($conn:expr, $key:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
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
        where "#
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            let id = EndpointId::from(row.id);
            let health = health::Row {
                failing_since: row.failing_since,
                failures: row.failures,
                openings: row.openings,
                open_until: row.open_until,
                probe_until: row.probe_until,
                at: row.at,
            };
            let events: Result<Vec<EventKind>, _> =
                row.events.iter().map(|event| event.parse()).collect();
            let headers = match &row.headers {
                Some(sealed) => open_headers(required($key)?, id, sealed)?,
                None => Vec::new(),
            };
            Ok(Endpoint {
                id,
                site: row.site_id.into(),
                team: row.team_id.into(),
                settings: Settings {
                    url: row.url,
                    events: events?,
                    description: row.description,
                    max_per_second: row.max_per_second,
                    headers,
                },
                created_at: row.created_at,
                disabled_at: row.disabled_at,
                disabled_reason: row.disabled_reason,
                health: health.health(),
                at: row.at,
                waiting: row.waiting,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// An endpoint; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    reach: Reach,
    endpoint: EndpointId,
) -> Result<Option<Endpoint>, Error> {
    let found = select!(
        conn,
        key,
        "p.id = $1 and ($2::uuid is null or s.team_id = $2) and p.deleted_at is null",
        endpoint.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A site's endpoints, the oldest first.
pub async fn list(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    site: SiteId,
    page: Page,
) -> Result<Vec<Endpoint>, Error> {
    select!(
        conn,
        key,
        "p.site_id = $1 and ($2::uuid is null or p.id > $2) and p.deleted_at is null
        order by p.id
        limit $3",
        site.as_uuid(),
        page.after,
        page.limit
    )
}

/// An endpoint that nobody else changes until the transaction ends; none if there is none within
/// reach.
pub async fn lock(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    reach: Reach,
    endpoint: EndpointId,
) -> Result<Option<Endpoint>, Error> {
    sqlx::query_scalar!(
        "
        select p.id
        from webhook_endpoints p
        join sites s on s.id = p.site_id
        where p.id = $1 and ($2::uuid is null or s.team_id = $2) and p.deleted_at is null
        for no key update of p
        ",
        endpoint.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    // It is read after the lock, so that it shows the changes that the lock waited for.
    find(conn, key, reach, endpoint).await
}

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
    let endpoints = select!(conn, key, "p.id = any($1)", ids)?;
    let by_id = endpoints
        .into_iter()
        .map(|endpoint| (endpoint.id, endpoint));
    Ok(by_id.collect())
}
