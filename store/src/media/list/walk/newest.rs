//! The items themselves, from the newest on.

use sqlx::PgConnection;

use super::Walk;
use crate::page::Step;

/// Walks the items themselves.
pub(in super::super) async fn newest(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
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
                and (
                    ($9::text is null and $10::text is null)
                    or coalesce(
                        (
                            select
                                strpos(v.trace::text, coalesce($9, $10)) > 0
                                and exists (
                                    select
                                    from json_array_elements(v.trace -> 'evidence') e
                                    where
                                        ($9 is null or e ->> 'rule_id' = $9)
                                        and ($10 is null or e -> 'evidence' ->> 'category' = $10)
                                )
                            from verdicts v
                            where v.media_id = m.id and v.number = 1
                        ),
                        false
                    )
                ) as hit,
                row_number() over (order by m.id desc) = $4 as last
            from media m
            where m.site_id = s.id and m.id >= $2 and m.id < $3
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
        walk.rule(),
        walk.category(),
    )
    .fetch_all(conn)
    .await
}
