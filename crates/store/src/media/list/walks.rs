//! Walks over the media of several sites at once, which look at a bounded number of rows.

use domain::{author::Author, media::Status, score::Category};
use sqlx::PgConnection;

use super::Filter;
use crate::page::{Step, Walk};

/// The statement of a walk. `$id` is the item's id and `$rows` the rows of the site `s`. The parameters from `$12` on are
/// `$more`.
///
/// All walks look at the machine's verdict, an item's first, for the rule and the category. It is a scalar subquery, and no
/// `exists` of its own: Postgres would read the whole table for a hash of it.
macro_rules! walk {
    ($conn:expr, $walk:expr, $filter:expr, $id:literal, $rows:literal $(, $more:expr)*) => {
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
                    and ($9::text is null or m.author = $9)
                    and (
                        ($10::text is null and $11::text is null)
                        or coalesce(
                            (
                                select
                                    strpos(v.trace::text, coalesce($10, $11)) > 0
                                    and exists (
                                        select
                                        from json_array_elements(v.trace -> 'evidence') e
                                        where
                                            ($10 is null or e ->> 'rule_id' = $10)
                                            and ($11 is null or e -> 'evidence' ->> 'category' = $11)
                                    )
                                from verdicts v
                                where v.media_id = m.id and v.number = 1
                            ),
                            false
                        )
                    ) as hit,
                    row_number() over (order by "# + $id + r#" desc) = $4 as last
                from "# + $rows + r#"
                order by "# + $id + r#" desc
                limit $4
            ) w
            where w.hit or w.last
            order by w.id desc
            limit $8
            "#,
            &$walk.over,
            $walk.from,
            $walk.before,
            $walk.share,
            $filter.status.map(Status::as_str),
            $filter.since,
            $filter.until,
            $walk.fetched,
            $filter.author.as_ref().map(Author::as_str),
            // The id as it is in traces.
            $filter.rule.map(|rule| rule.to_string()),
            $filter.category.map(Category::as_str),
            $($more,)*
        )
        .fetch_all($conn)
        .await
    };
}

/// Walks the items themselves.
pub(super) async fn newest(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        filter,
        "m.id",
        "media m where m.site_id = s.id and m.id >= $2 and m.id < $3"
    )
}

/// Walks the items of one author. There may be any number, so the index has them in order.
pub(super) async fn written(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        filter,
        "m.id",
        r"media m
                where
                    m.site_id = s.id
                    and hashtextextended(m.author, 0) = hashtextextended($9::text, 0)
                    and m.author = $9
                    and m.id >= $2 and m.id < $3"
    )
}

/// Walks the items of one name. Applications give a name to one item, or to a few, so these are
/// sorted. `offset 0` keeps the range of ids out of the choice of an index: a plan for any
/// parameters would take the index that has a site's items in order, and read them all.
pub(super) async fn named(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
    app_media_id: &str,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        filter,
        "m.id",
        r"(
                    select n.id, n.status, n.created_at, n.author
                    from media n
                    where
                        n.site_id = s.id
                        and hashtextextended(n.app_media_id, 0) = hashtextextended($12::text, 0)
                        and n.app_media_id = $12
                    offset 0
                ) m
                where m.id >= $2 and m.id < $3",
        app_media_id
    )
}

/// Walks the items that wait for a person.
pub(super) async fn waiting(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        filter,
        "r.media_id",
        r"reviews r
                join media m on m.id = r.media_id
                where r.site_id = s.id and r.media_id >= $2 and r.media_id < $3"
    )
}
