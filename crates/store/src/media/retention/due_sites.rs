//! Sites with something to look at.

use sqlx::PgPool;
use uuid::Uuid;

use super::Kind;

/// A site with old items that were not looked at yet, or that are to be looked at again.
pub(super) struct Site {
    pub(super) id: Uuid,
    /// Items and events with smaller ids may be old enough. Ids of version 7 begin with the milliseconds since 1970.
    pub(super) before: Uuid,
}

pub(super) async fn sites(pool: &PgPool, kind: Kind) -> Result<Vec<Site>, sqlx::Error> {
    sqlx::query_as!(
        Site,
        r#"
        with wanted as (
            select
                id, webhook_retention_days,
                case $1 when 'items' then item_retention_days else content_retention_days end as days
            from sites
        ),
        bounds as materialized (
            select
                s.id,
                coalesce(w.walked_to, '00000000-0000-0000-0000-000000000000') as walked_to,
                -- An item stays as long as its events, at least, and waits until these were looked at.
                least(
                    rpad(
                        lpad(
                            to_hex(
                                (
                                    extract(
                                        epoch from now() - make_interval(days => greatest(s.days, s.webhook_retention_days))
                                    ) * 1000
                                )::bigint
                            ),
                            12, '0'
                        ),
                        32, '0'
                    )::uuid,
                    e.walked_to
                ) as before
            from wanted s
            left join retention_walks w on w.site_id = s.id and w.kind = $1
            left join retention_walks e on e.site_id = s.id and e.kind = 'events'
            where s.days is not null
        )
        select b.id, b.before as "before!"
        from bounds b
        where
            exists (
                select
                from media m
                where (m.site_id, m.id) > (b.id, b.walked_to) and m.site_id = b.id and m.id < b.before
            )
            or exists (
                select
                from retention_stragglers s
                where s.site_id = b.id and s.kind = $1 and s.due_at <= now()
            )
        "#,
        kind.as_str(),
    )
    .fetch_all(pool)
    .await
}
