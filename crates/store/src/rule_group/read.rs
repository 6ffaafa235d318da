//! Reading groups: one, one that is locked, all within reach, or those of a site; and which sites they judge for.

use domain::{
    id::{GroupVersionId, RuleGroupId, SiteId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Group;
use crate::{Error, page::Page};

/// Groups from these tables, on these conditions.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            r#"
        select
            g.id, g.team_id, g.name, g.live_version_id, l.number as live_number, g.shadow_version_id,
            s.number as "shadow_number?", g.draft is not null as "edited!", g.draft_revision, g.created_at
        from "#
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| Group {
            id: row.id.into(),
            team: row.team_id.into(),
            name: row.name,
            live: row.live_version_id.into(),
            live_number: row.live_number,
            shadow: row.shadow_version_id.map(GroupVersionId::from),
            shadow_number: row.shadow_number,
            edited: row.edited,
            draft_revision: row.draft_revision,
            created_at: row.created_at,
        })
        .collect::<Vec<_>>()
    };
}

/// A group; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    group: RuleGroupId,
) -> Result<Option<Group>, Error> {
    let mut found = select!(
        conn,
        "rule_groups g
        join rule_group_versions l on l.id = g.live_version_id
        left join rule_group_versions s on s.id = g.shadow_version_id
        where g.id = $1 and ($2::uuid is null or g.team_id = $2) and g.disabled_at is null",
        group.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found.pop())
}

/// A group that nobody else changes until the transaction ends; none if there is none within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    group: RuleGroupId,
) -> Result<Option<Group>, Error> {
    let locked = sqlx::query_scalar!(
        "select id from rule_groups where id = $1 and ($2::uuid is null or team_id = $2) for no key update",
        group.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    match locked {
        // It is read after the lock, so that it shows the changes that the lock waited for.
        Some(_) => find(conn, reach, group).await,
        None => Ok(None),
    }
}

/// Groups within reach, the oldest first.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Group>, Error> {
    Ok(select!(
        conn,
        "rule_groups g
        join rule_group_versions l on l.id = g.live_version_id
        left join rule_group_versions s on s.id = g.shadow_version_id
        where ($1::uuid is null or g.team_id = $1) and ($2::uuid is null or g.id > $2) and g.disabled_at is null
        order by g.id
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    ))
}

/// A group's team; none if there is no such group.
pub async fn team_of(conn: &mut PgConnection, group: RuleGroupId) -> Result<Option<TeamId>, Error> {
    let team = sqlx::query_scalar!(
        "select team_id from rule_groups where id = $1 and disabled_at is null",
        group.as_uuid()
    )
    .fetch_optional(conn)
    .await?;
    Ok(team.map(TeamId::from))
}

/// The groups that are attached to a site, in the order in which they judge, which is that of their
/// creation.
pub async fn attached(conn: &mut PgConnection, site: SiteId) -> Result<Vec<Group>, Error> {
    Ok(select!(
        conn,
        "site_rule_groups a
        join rule_groups g on g.id = a.rule_group_id
        join rule_group_versions l on l.id = g.live_version_id
        left join rule_group_versions s on s.id = g.shadow_version_id
        where a.site_id = $1
        order by g.created_at, g.id",
        site.as_uuid()
    ))
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
