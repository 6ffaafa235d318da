//! Which groups judge a site's submissions together.

use domain::id::{RuleGroupId, SiteId};
use sqlx::PgConnection;

use super::{Group, Row};
use crate::Error;

/// The groups that are attached to a site, in the order in which they judge, which is that of their
/// creation.
pub async fn attached(conn: &mut PgConnection, site: SiteId) -> Result<Vec<Group>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            g.id, g.team_id, g.name, g.live_version_id, l.number as live_number, g.shadow_version_id,
            s.number as "shadow_number?", g.draft is not null as "edited!", g.draft_revision, g.created_at
        from site_rule_groups a
        join rule_groups g on g.id = a.rule_group_id
        join rule_group_versions l on l.id = g.live_version_id
        left join rule_group_versions s on s.id = g.shadow_version_id
        where a.site_id = $1
        order by g.created_at, g.id
        "#,
        site.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Group::from).collect())
}

/// Attaches a group to a site. False: it was attached already. Run it in a transaction that has
/// locked the site and holds the group.
pub async fn attach(
    conn: &mut PgConnection,
    site: SiteId,
    group: RuleGroupId,
) -> Result<bool, Error> {
    let attached = sqlx::query!(
        "
        insert into site_rule_groups (site_id, rule_group_id)
        values ($1, $2)
        on conflict on constraint site_rule_groups_pkey do nothing
        ",
        site.as_uuid(),
        group.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(attached.rows_affected() > 0)
}

/// Detaches a group from a site; false: it was not attached.
pub async fn detach(
    conn: &mut PgConnection,
    site: SiteId,
    group: RuleGroupId,
) -> Result<bool, Error> {
    let detached = sqlx::query!(
        "delete from site_rule_groups where site_id = $1 and rule_group_id = $2",
        site.as_uuid(),
        group.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(detached.rows_affected() > 0)
}

/// The most sites of a group that are named.
const TOLD: i64 = 10;

/// Some of the sites that a group judges for, attached or by default.
pub(super) async fn sites_of(
    conn: &mut PgConnection,
    group: RuleGroupId,
) -> Result<Vec<SiteId>, Error> {
    let sites = sqlx::query_scalar!(
        r#"
        select id as "id!" from sites where default_rule_group_id = $1
        union
        select site_id from site_rule_groups where rule_group_id = $1
        order by 1
        limit $2
        "#,
        group.as_uuid(),
        TOLD,
    )
    .fetch_all(conn)
    .await?;
    Ok(sites.into_iter().map(SiteId::from).collect())
}
