//! The limits of plans on how many things a team may have. Code that creates such a thing asks here
//! first, in the same transaction.
//!
//! The row of the team, or of the site whose endpoints are counted, is locked until that
//! transaction ends. So of two creations at once, the second counts what the first has created.
//! Code that locks both locks the site first.

mod endpoints;

use domain::{
    id::TeamId,
    plan::{Limit, LimitReached, Limits},
};
use sqlx::PgConnection;

pub(crate) use self::endpoints::require_endpoint;
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
