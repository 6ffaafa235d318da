//! The items of one name.

use sqlx::PgConnection;

use super::Walk;
use crate::page::Step;

/// Walks the items of one name. Applications give a name to one item, or to a few, so these are
/// sorted.
pub(in super::super) async fn named(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
    app_media_id: &str,
) -> Result<Vec<Step>, sqlx::Error> {
    sqlx::query_as!(
        Step,
        r#"
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from unnest($1::uuid []) as s (id)
        cross join lateral (
            select
                m.id,
                ($5::text is null or m.status = $5)
                and ($6::timestamptz is null or m.created_at >= $6)
                and ($7::timestamptz is null or m.created_at < $7)
                and ($10::text is null or m.author = $10)
                and (
                    ($11::text is null and $12::text is null)
                    or coalesce(
                        (
                            select
                                strpos(v.trace::text, coalesce($11, $12)) > 0
                                and exists (
                                    select
                                    from json_array_elements(v.trace -> 'evidence') e
                                    where
                                        ($11 is null or e ->> 'rule_id' = $11)
                                        and ($12 is null or e -> 'evidence' ->> 'category' = $12)
                                )
                            from verdicts v
                            where v.media_id = m.id and v.number = 1
                        ),
                        false
                    )
                ) as hit,
                row_number() over (order by m.id desc) = $4 as last
            from media m
            where
                m.site_id = s.id
                and hashtextextended(m.app_media_id, 0) = hashtextextended($9::text, 0)
                and m.app_media_id = $9
                and m.id >= $2 and m.id < $3
            order by m.id desc
            limit $4
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $8
        "#,
        &walk.sites,
        walk.from,
        walk.before,
        walk.share,
        walk.status(),
        walk.filter.since,
        walk.filter.until,
        walk.fetched(),
        app_media_id,
        walk.author(),
        walk.rule(),
        walk.category(),
    )
    .fetch_all(conn)
    .await
}
