//! Hiding a group that no site uses.

use domain::{
    id::{RuleGroupId, SiteId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;

use super::{Group, attachment, read::find};
use crate::Error;

/// A group, locked so that nobody else changes it or attaches it to a site until the transaction
/// ends; none if there is none within reach. With it, some of the sites that it judges for.
pub async fn lock_to_disable(
    conn: &mut PgConnection,
    reach: Reach,
    group: RuleGroupId,
) -> Result<Option<(Group, Vec<SiteId>)>, Error> {
    sqlx::query_scalar!(
        "select id from rule_groups where id = $1 and ($2::uuid is null or team_id = $2) for update",
        group.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(found) = find(conn, reach, group).await? else {
        return Ok(None);
    };
    let sites = attachment::sites_of(conn, group).await?;
    Ok(Some((found, sites)))
}

/// Hides a group, for ever: submissions cannot name it, and its name is free. Its versions stay.
/// Run it in a transaction that has locked the group with [`lock_to_disable`].
pub async fn disable(conn: &mut PgConnection, group: RuleGroupId) -> Result<(), Error> {
    sqlx::query!(
        "update rule_groups set disabled_at = now(), shadow_version_id = null where id = $1",
        group.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
