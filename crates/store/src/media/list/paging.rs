//! Walks the media of several sites at once, from the newest on, looking at a bounded number of
//! rows.

use domain::{author::Author, id::MediaId, media::Status, score::Category};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Filter;
use crate::{
    id_time::ids_within,
    page::{self, Step},
};

/// How many rows a page with a filter looks at, over all sites together; at least one of each site.
pub const WALKED: usize = 5_000;

/// Which rows are looked at, and which of them are wanted.
///
/// Each site's rows are walked from the newest on, as far as its share goes. Below the end of a
/// share, the site's older rows are unknown, so the page ends there: at the newest such place of
/// all sites.
pub(super) struct Walk<'a> {
    sites: Vec<Uuid>,
    /// From this id on,
    from: Uuid,
    /// up to this one, which is not walked itself.
    before: Uuid,
    /// Rows of each site.
    share: i64,
    filter: &'a Filter,
    limit: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        sites: Vec<Uuid>,
        filter: &'a Filter,
        after: Option<MediaId>,
        limit: usize,
    ) -> Self {
        let (from, until) = ids_within(filter.since, filter.until);
        let share = (WALKED / sites.len().max(1)).max(1);
        // Without a filter, no site needs more rows than the page can hold.
        let share = if filter.wants_all() {
            share.min(limit.saturating_add(1))
        } else {
            share
        };
        Self {
            from,
            before: after.map_or(until, |after| after.as_uuid().min(until)),
            share: i64::try_from(share).unwrap_or(i64::MAX),
            sites,
            filter,
            limit,
        }
    }

    fn status(&self) -> Option<&'static str> {
        self.filter.status.map(Status::as_str)
    }

    fn author(&self) -> Option<&str> {
        self.filter.author.as_ref().map(Author::as_str)
    }

    /// The id as it is in traces.
    fn rule(&self) -> Option<String> {
        self.filter.rule.map(|rule| rule.to_string())
    }

    fn category(&self) -> Option<&'static str> {
        self.filter.category.map(Category::as_str)
    }

    /// How many steps are fetched: one more than the page holds tells whether there is another
    /// page.
    fn fetched(&self) -> i64 {
        i64::try_from(self.limit.saturating_add(1)).unwrap_or(i64::MAX)
    }

    /// What is on the page, of steps newest first, and after which item the next page begins.
    pub(super) fn found(&self, steps: &[Step]) -> (Vec<Uuid>, Option<MediaId>) {
        let (found, next) = page::found(steps, self.limit);
        (found, next.map(MediaId::from))
    }
}

/// The statement of a walk. `$id` is the item's id and `$rows` the rows of the site `s`. The parameters from `$12` on are
/// `$more`.
///
/// All walks look at the machine's verdict, an item's first, for the rule and the category. It is a scalar subquery, and no
/// `exists` of its own: Postgres would read the whole table for a hash of it.
macro_rules! walk {
    ($conn:expr, $walk:expr, $id:literal, $rows:literal $(, $more:expr)*) => {
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
            &$walk.sites,
            $walk.from,
            $walk.before,
            $walk.share,
            $walk.status(),
            $walk.filter.since,
            $walk.filter.until,
            $walk.fetched(),
            $walk.author(),
            $walk.rule(),
            $walk.category(),
            $($more,)*
        )
        .fetch_all($conn)
        .await
    };
}

/// Walks the items themselves.
pub(super) async fn newest(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        "m.id",
        "media m where m.site_id = s.id and m.id >= $2 and m.id < $3"
    )
}

/// Walks the items of one author. There may be any number, so the index has them in order.
pub(super) async fn written(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
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
    walk: &Walk<'_>,
    app_media_id: &str,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
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
    walk: &Walk<'_>,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        "r.media_id",
        r"reviews r
                join media m on m.id = r.media_id
                where r.site_id = s.id and r.media_id >= $2 and r.media_id < $3"
    )
}
