//! Reading sites: one, one that is locked, or all within reach.

use domain::{
    id::{SiteId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;

use super::{ManagedSite, row::Row};
use crate::{Error, page::Page};

/// A site; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    site: SiteId,
) -> Result<Option<ManagedSite>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, name, on_failure, status_vocabulary, providers, policy, answer_cache_seconds, submissions_per_minute,
            author_pointer, compat_store, compat_unchecked, status_queries_per_minute, item_retention_days, content_retention_days, image_retention_days,
            webhook_retention_days, default_rule_group_id, closure_id, closed_at, created_at,
            array(
                select g.id
                from site_rule_groups a
                join rule_groups g on g.id = a.rule_group_id
                where a.site_id = s.id
                order by g.created_at, g.id
            ) as "rule_groups!"
        from sites s
        where id = $1 and ($2::uuid is null or team_id = $2)
        "#,
        site.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(ManagedSite::try_from).transpose()
}

/// A site, locked so that nobody else changes it or its keys until the transaction ends; none if
/// there is none within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    site: SiteId,
) -> Result<Option<ManagedSite>, Error> {
    let locked = sqlx::query_scalar!(
        "select id from sites where id = $1 and ($2::uuid is null or team_id = $2) for no key update",
        site.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    match locked {
        // It is read after the lock, so that it shows the changes that the lock waited for, with
        // newly attached groups.
        Some(_) => find(conn, reach, site).await,
        None => Ok(None),
    }
}

/// Sites within reach, the oldest first, without those that are closed for good.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<ManagedSite>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, name, on_failure, status_vocabulary, providers, policy, answer_cache_seconds, submissions_per_minute,
            author_pointer, compat_store, compat_unchecked, status_queries_per_minute, item_retention_days, content_retention_days, image_retention_days,
            webhook_retention_days, default_rule_group_id, closure_id, closed_at, created_at,
            array(
                select g.id
                from site_rule_groups a
                join rule_groups g on g.id = a.rule_group_id
                where a.site_id = s.id
                order by g.created_at, g.id
            ) as "rule_groups!"
        from sites s
        where ($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2) and closed_at is null
        order by id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(ManagedSite::try_from).collect()
}
