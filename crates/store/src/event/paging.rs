//! Walking the events of each site from the newest on, as far as the site's share goes.

use domain::{event::EventKind, id::MediaId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Filter;
use crate::{delivery::WALKED, page::Step};

/// Which rows are looked at: those of each site from the newest on, as far as its share goes. Below
/// the end of a share, the site's older rows are unknown, so the page ends there.
pub(super) struct Walk<'a> {
    pub(super) sites: Vec<Uuid>,
    /// From this id on,
    pub(super) from: Uuid,
    /// up to this one, which is not walked itself.
    pub(super) before: Uuid,
    /// How many steps are fetched: one more than the page holds tells whether there is another
    /// page.
    pub(super) fetched: i64,
    pub(super) filter: &'a Filter,
}

impl Walk<'_> {
    /// How many sites are walked, those with the newest events, and how many rows of each at most.
    /// Without a filter, the page is full with the newest events of as many sites as it has rows:
    /// every event of another site is older than all of those.
    fn most(&self) -> (i64, i64) {
        if self.filter.wants_all() {
            (self.fetched, self.fetched)
        } else {
            (i64::MAX, i64::MAX)
        }
    }
}

/// Walks the events of each site, in one statement. Sites without an event in the range take no
/// part in the share of the others.
///
/// The ids are compared as rows, as recoveries do, so that Postgres walks the index of each site's
/// events, whatever it estimates.
pub(super) async fn newest(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
) -> Result<Vec<Step>, sqlx::Error> {
    let (sites, rows) = walk.most();
    sqlx::query_as!(
        Step,
        r#"
        with newest as materialized (
            select s.id
            from unnest($1::uuid []) as s (id)
            cross join lateral (
                select e.id
                from events e
                where (e.site_id, e.id) >= (s.id, $2) and e.site_id = s.id and e.id < $3
                order by e.site_id desc, e.id desc
                limit 1
            ) e
            order by e.id desc
            limit $4
        ),
        share as materialized (
            select least(greatest($5 / greatest(count(*), 1), 1), $6::bigint) as rows
            from newest
        )
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from share
        cross join newest s
        cross join lateral (
            select
                e.id,
                ($7::text is null or e.kind = $7)
                and ($8::timestamptz is null or e.occurred_at >= $8)
                and ($9::timestamptz is null or e.occurred_at < $9) as hit,
                row_number() over (order by e.id desc) = share.rows as last
            from (
                select id, kind, occurred_at
                from events
                where (site_id, id) >= (s.id, $2) and site_id = s.id and id < $3
                order by site_id desc, id desc
                limit share.rows
            ) e
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $10
        "#,
        &walk.sites,
        walk.from,
        walk.before,
        sites,
        i64::try_from(WALKED).unwrap_or(i64::MAX),
        rows,
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}

/// Looks at what there is about one item: a few events. `is true` keeps Postgres from also reading
/// the index of the sites' events, which has all of them.
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
            media_id = $1 and (site_id = any($2)) is true and id < $3
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
