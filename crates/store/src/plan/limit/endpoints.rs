//! The limit on endpoints, which are counted by site. Deleted ones are remembered for their
//! deliveries, and limited too.

use domain::{id::SiteId, plan::Limit};
use sqlx::PgConnection;

use super::compare;
use crate::Error;

/// The most deleted endpoints that a site keeps: those that are remembered for their deliveries.
/// Lists of deliveries look at as many endpoints.
const DELETED_ENDPOINTS: i64 = 1_000;

/// How many of them are forgotten when a new endpoint needs room.
const FORGOTTEN_AT_ONCE: i64 = 100;

/// Lets a site have one more endpoint.
///
/// # Errors
/// [`Error::LimitReached`]; [`Error::TooManyDeleted`] if the site has deleted too many endpoints
/// whose deliveries are kept.
pub(crate) async fn require_endpoint(conn: &mut PgConnection, site: SiteId) -> Result<(), Error> {
    let allowed = sqlx::query_scalar!(
        r#"
        select p.endpoints_per_site as "allowed?"
        from sites s
        left join subscriptions b on b.team_id = s.team_id
        left join plans p on p.id = b.plan_id
        where s.id = $1
        for no key update of s
        "#,
        site.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let (there, deleted) = endpoints(conn, site).await?;
    compare(Limit::Endpoints, there, allowed.flatten())?;
    if deleted < DELETED_ENDPOINTS {
        return Ok(());
    }
    forget_endpoints(conn, site).await?;
    match endpoints(conn, site).await? {
        (_, deleted) if deleted < DELETED_ENDPOINTS => Ok(()),
        (_, deleted) => Err(Error::TooManyDeleted(deleted)),
    }
}

/// How many endpoints a site has, and how many deleted ones it remembers.
async fn endpoints(conn: &mut PgConnection, site: SiteId) -> Result<(i64, i64), Error> {
    let row = sqlx::query!(
        r#"
        select
            count(*) filter (where deleted_at is null) as "there!",
            count(*) filter (where deleted_at is not null) as "deleted!"
        from webhook_endpoints
        where site_id = $1
        "#,
        site.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok((row.there, row.deleted))
}

/// Forgets deleted endpoints without deliveries. A request that was being sent to one when it was
/// deleted has ended by then.
async fn forget_endpoints(conn: &mut PgConnection, site: SiteId) -> Result<(), Error> {
    sqlx::query!(
        "
        delete from webhook_endpoints
        where id in (
            select p.id
            from webhook_endpoints p
            where
                p.site_id = $1
                and p.deleted_at < now() - interval '10 minutes'
                and not exists (select from deliveries d where d.endpoint_id = p.id)
            order by p.id
            limit $2
        )
        ",
        site.as_uuid(),
        FORGOTTEN_AT_ONCE,
    )
    .execute(conn)
    .await?;
    Ok(())
}
