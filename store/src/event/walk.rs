//! Walking the events of each site from the newest on, as far as the site's share goes.

use std::cmp::Reverse;

use domain::{event::EventKind, id::MediaId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Filter;
use crate::page::Step;

/// Which rows are looked at: those of each site from the newest on, as far as its share goes. Below
/// the end of a share, the site's older rows are unknown, so the page ends there.
pub(super) struct Walk<'a> {
    pub(super) sites: Vec<Uuid>,
    /// From this id on,
    pub(super) from: Uuid,
    /// up to this one, which is not walked itself.
    pub(super) before: Uuid,
    /// Rows of each site.
    pub(super) rows: i64,
    /// How many steps are fetched: one more than the page holds tells whether there is another
    /// page.
    pub(super) fetched: i64,
    pub(super) filter: &'a Filter,
}

/// Walks the events of each site. A statement for each: only then does the planner know how many
/// events the site has.
pub(super) async fn newest(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
) -> Result<Vec<Step>, sqlx::Error> {
    let mut steps = Vec::new();
    for site in &walk.sites {
        steps.extend(newest_of(conn, walk, *site).await?);
    }
    steps.sort_by_key(|step| Reverse(step.id));
    Ok(steps)
}

/// Walks all events of a site. They are compared as rows, as recoveries do, so that the site's
/// index is walked.
async fn newest_of(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
    site: Uuid,
) -> Result<Vec<Step>, sqlx::Error> {
    sqlx::query_as!(
        Step,
        r#"
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from (
            select
                e.id,
                ($5::text is null or e.kind = $5)
                and ($6::timestamptz is null or e.occurred_at >= $6)
                and ($7::timestamptz is null or e.occurred_at < $7) as hit,
                row_number() over (order by e.id desc) = $4 as last
            from (
                select id, kind, occurred_at
                from events
                where (site_id, id) >= ($1, $2) and (site_id, id) < ($1, $3)
                order by site_id desc, id desc
                limit $4
            ) e
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $8
        "#,
        site,
        walk.from,
        walk.before,
        walk.rows,
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}

/// Looks at what there is about one item: a few events.
pub(super) async fn about(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
    media: MediaId,
) -> Result<Vec<Step>, sqlx::Error> {
    sqlx::query_as!(
        Step,
        r#"
        select id, true as "hit!", false as "last!"
        from events
        where
            media_id = $1 and site_id = any($2) and id < $3
            and ($4::text is null or kind = $4)
            and ($5::timestamptz is null or occurred_at >= $5)
            and ($6::timestamptz is null or occurred_at < $6)
        order by id desc
        limit $7
        "#,
        media.as_uuid(),
        &walk.sites,
        walk.before,
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}
