//! The items that wait for a person.

use sqlx::PgConnection;

use super::Walk;
use crate::page::Step;

/// Walks the items that wait for a person.
pub(in super::super) async fn waiting(
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
                ($5::timestamptz is null or m.created_at >= $5)
                and ($6::timestamptz is null or m.created_at < $6)
                and (
                    ($8::text is null and $9::text is null)
                    or coalesce(
                        (
                            select
                                strpos(v.trace::text, coalesce($8, $9)) > 0
                                and exists (
                                    select
                                    from json_array_elements(v.trace -> 'evidence') e
                                    where
                                        ($8 is null or e ->> 'rule_id' = $8)
                                        and ($9 is null or e -> 'evidence' ->> 'category' = $9)
                                )
                            from verdicts v
                            where v.media_id = m.id and v.number = 1
                        ),
                        false
                    )
                ) as hit,
                row_number() over (order by r.media_id desc) = $4 as last
            from reviews r
            join media m on m.id = r.media_id
            where r.site_id = s.id and r.media_id >= $2 and r.media_id < $3
            order by r.media_id desc
            limit $4
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $7
        "#,
        &walk.sites,
        walk.from,
        walk.before,
        walk.share,
        walk.filter.since,
        walk.filter.until,
        walk.fetched(),
        walk.rule(),
        walk.category(),
    )
    .fetch_all(conn)
    .await
}
