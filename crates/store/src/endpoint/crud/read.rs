//! Reading endpoints: one, one that is locked, or those of a site.

use domain::{
    id::{EndpointId, SiteId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;

use super::{Endpoint, row::Row};
use crate::{Error, encryption::MasterKey, page::Page};

/// An endpoint; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    reach: Reach,
    endpoint: EndpointId,
) -> Result<Option<Endpoint>, Error> {
    let row = sqlx::query_as!(
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
        where p.id = $1 and ($2::uuid is null or s.team_id = $2) and p.deleted_at is null
        "#,
        endpoint.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| row.open(key)).transpose()
}

/// A site's endpoints, the oldest first.
pub async fn list(
    conn: &mut PgConnection,
    key: Option<&MasterKey>,
    site: SiteId,
    page: Page,
) -> Result<Vec<Endpoint>, Error> {
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
        where p.site_id = $1 and ($2::uuid is null or p.id > $2) and p.deleted_at is null
        order by p.id
        limit $3
        "#,
        site.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(|row| row.open(key)).collect()
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
