//! The groups that judge for a site.

use domain::id::{RuleGroupId, SiteId, TeamId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// Those of these groups that belong to the team. They are locked until the transaction ends.
pub async fn own_groups(
    conn: &mut PgConnection,
    team: TeamId,
    groups: &[RuleGroupId],
) -> Result<Vec<RuleGroupId>, Error> {
    let groups: Vec<Uuid> = groups.iter().map(|group| group.as_uuid()).collect();
    let own = sqlx::query_scalar!(
        "select id from rule_groups where team_id = $1 and id = any($2) and disabled_at is null for key share",
        team.as_uuid(),
        &groups,
    )
    .fetch_all(conn)
    .await?;
    Ok(own.into_iter().map(RuleGroupId::from).collect())
}

pub(super) async fn detach_others(
    conn: &mut PgConnection,
    site: SiteId,
    groups: &[Uuid],
) -> Result<(), Error> {
    sqlx::query!(
        "delete from site_rule_groups where site_id = $1 and rule_group_id <> all($2)",
        site.as_uuid(),
        groups,
    )
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn attach(
    conn: &mut PgConnection,
    site: SiteId,
    groups: &[Uuid],
) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into site_rule_groups (site_id, rule_group_id)
        select $1, unnest($2::uuid [])
        on conflict on constraint site_rule_groups_pkey do nothing
        ",
        site.as_uuid(),
        groups,
    )
    .execute(conn)
    .await?;
    Ok(())
}
