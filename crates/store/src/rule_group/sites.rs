//! The sites that groups judge for: a site judges with the groups that are attached to it, or else with its default group.

use domain::id::{RuleGroupId, SiteId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// A site, and a group that judges for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedSite {
    /// The group.
    pub group: RuleGroupId,
    /// The site.
    pub site: SiteId,
    /// The name of the site.
    pub name: String,
}

/// The sites that these groups judge for, at most so many of each group: the oldest.
pub async fn judged_sites(
    conn: &mut PgConnection,
    groups: &[RuleGroupId],
    most: i64,
) -> Result<Vec<JudgedSite>, Error> {
    let groups: Vec<Uuid> = groups.iter().map(|group| group.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select g.id as "group!", j.id as "site!", j.name as "name!"
        from unnest($1::uuid[]) as g (id)
        cross join lateral (
            select s.id, s.name
            from sites s
            where s.id in (
                select a.site_id from site_rule_groups a where a.rule_group_id = g.id
                union all
                select d.id
                from sites d
                where
                    d.default_rule_group_id = g.id
                    and not exists (select from site_rule_groups o where o.site_id = d.id)
            )
            order by s.id
            limit $2
        ) j
        order by g.id, j.id
        "#,
        &groups,
        most,
    )
    .fetch_all(conn)
    .await?;
    let sites = rows.into_iter().map(|row| JudgedSite {
        group: row.group.into(),
        site: row.site.into(),
        name: row.name,
    });
    Ok(sites.collect())
}
