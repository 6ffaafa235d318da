//! A preview of retention: what it means for a site now, for the people who set it.

use chrono::{DateTime, Utc};
use domain::{
    id::{SiteId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;

use crate::Error;

/// What is removed of a site, and what is next. Everything is found by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPreview {
    /// Items are removed whose last verdict is older. `None`: items are kept.
    pub items_before: Option<DateTime<Utc>>,
    /// Contents are removed of items whose last verdict is older. `None`: contents are kept.
    pub contents_before: Option<DateTime<Utc>>,
    /// When the oldest item was accepted. `None`: the site has none.
    pub oldest_item: Option<DateTime<Utc>>,
    /// The oldest item whose content is to be removed and is still there. `None`: there is none, or contents are kept.
    pub oldest_content: Option<Content>,
}

/// An item whose content is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// When it was accepted.
    pub accepted_at: DateTime<Utc>,
    /// When its content can go at the earliest. `None`: it waits for a verdict or a person.
    pub goes_at: Option<DateTime<Utc>>,
}

/// What retention means for a site now; none if there is none within reach.
pub async fn retention_preview(
    conn: &mut PgConnection,
    reach: Reach,
    site: SiteId,
) -> Result<Option<RetentionPreview>, Error> {
    let row = sqlx::query!(
        r#"
        select
            now() - make_interval(days => greatest(s.item_retention_days, s.webhook_retention_days)) as "items!",
            s.item_retention_days is not null as "removes_items!",
            now() - make_interval(days => greatest(s.content_retention_days, s.webhook_retention_days)) as "contents!",
            s.content_retention_days is not null as "removes_contents!",
            (
                select m.created_at
                from media m
                where (m.site_id, m.id) >= (s.id, '00000000-0000-0000-0000-000000000000') and m.site_id = s.id
                order by m.site_id, m.id
                limit 1
            ) as oldest_item,
            c.created_at as "content_accepted_at?",
            case
                when c.status in ('approved', 'rejected')
                then v.moderated_at + make_interval(days => greatest(s.content_retention_days, s.webhook_retention_days))
            end as content_goes_at
        from sites s
        left join lateral (
            select least(
                (
                    select l.media_id
                    from retention_stragglers l
                    where l.site_id = s.id and l.kind = 'contents'
                    order by l.media_id
                    limit 1
                ),
                (
                    select m.id
                    from media m
                    where
                        (m.site_id, m.id) > (
                            s.id,
                            coalesce(
                                (select w.walked_to from retention_walks w where w.site_id = s.id and w.kind = 'contents'),
                                '00000000-0000-0000-0000-000000000000'
                            )
                        )
                        and m.site_id = s.id
                    order by m.site_id, m.id
                    limit 1
                )
            ) as id
            where s.content_retention_days is not null
        ) n on true
        left join media c on c.id = n.id and c.content_removed_at is null
        left join verdicts v on v.media_id = c.id and v.number = c.verdict
        where s.id = $1 and ($2::uuid is null or s.team_id = $2)
        "#,
        site.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| RetentionPreview {
        items_before: row.removes_items.then_some(row.items),
        contents_before: row.removes_contents.then_some(row.contents),
        oldest_item: row.oldest_item,
        oldest_content: row.content_accepted_at.map(|accepted_at| Content {
            accepted_at,
            goes_at: row.content_goes_at,
        }),
    }))
}
