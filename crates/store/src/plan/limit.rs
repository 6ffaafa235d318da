//! The limits of plans on how many things a team may have. Code that creates such a thing asks here
//! first, in the same transaction.
//!
//! The row of the team, or of the site whose endpoints are counted, is locked until that
//! transaction ends. So of two creations at once, the second counts what the first has created.
//! Code that locks both locks the site first.

use domain::{
    id::{SiteId, TeamId},
    plan::{Limit, LimitReached, Limits},
};
use sqlx::PgConnection;

use crate::Error;

/// Lets a team create one more thing of a kind that is counted by team: any but endpoints
/// ([`require_endpoint`]). A team without a subscription has the usual limits.
///
/// # Errors
/// [`Error::LimitReached`]. When a limit is lowered, nothing is removed.
pub(crate) async fn require(
    conn: &mut PgConnection,
    team: TeamId,
    limit: Limit,
) -> Result<(), Error> {
    let allowed = sqlx::query_scalar!(
        r#"
        select
            case $2
                when 'sites_per_team' then p.sites_per_team
                when 'site_keys_per_team' then p.site_keys_per_team
                when 'management_tokens_per_team' then p.management_tokens_per_team
                when 'rule_groups_per_team' then p.rule_groups_per_team
                when 'hash_lists_per_team' then p.hash_lists_per_team
            end as allowed
        from teams t
        left join subscriptions b on b.team_id = t.id
        left join plans p on p.id = b.plan_id
        where t.id = $1
        for no key update of t
        "#,
        team.as_uuid(),
        limit.as_str(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    // The count comes after the lock, so that it sees what the lock waited for.
    let there = sqlx::query_scalar!(
        r#"
        select
            case $2
                when 'sites_per_team' then (
                    select count(*) from sites where team_id = $1 and closed_at is null
                )
                when 'site_keys_per_team' then (
                    select count(*)
                    from sites s
                    join site_keys k on k.site_id = s.id
                    where s.team_id = $1 and k.disabled_at is null
                )
                when 'management_tokens_per_team' then (
                    select count(*)
                    from management_tokens
                    where team_id = $1 and disabled_at is null and (expires_at is null or expires_at > now())
                )
                when 'rule_groups_per_team' then (
                    select count(*) from rule_groups where team_id = $1 and disabled_at is null
                )
                when 'hash_lists_per_team' then (
                    select count(*) from hash_lists where team_id = $1 and deleted_at is null
                )
            end
        "#,
        team.as_uuid(),
        limit.as_str(),
    )
    .fetch_one(conn)
    .await?;
    compare(limit, there.unwrap_or(0), allowed.flatten())
}

fn compare(limit: Limit, there: i64, allowed: Option<i32>) -> Result<(), Error> {
    let allowed = allowed.map_or_else(|| Limits::default().of(limit), i64::from);
    if there < allowed {
        return Ok(());
    }
    Err(Error::LimitReached(LimitReached { limit, allowed }))
}

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
