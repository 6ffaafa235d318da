//! A site's items as lines of JSON, in the order of their ids.
//!
//! Postgres writes the JSON, so that no value passes through a type on its way. Whoever reads plans first: sizes are known
//! without reading contents, and a plan says how many items fit into memory.

use domain::id::{MediaId, SiteId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// Verdicts, and notes, in one line. An item with more of them has further lines, so that no number of decisions or notes
/// makes a line larger.
pub const PAGE: i32 = 20;

/// An item, and what its line is going to cost.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// The item.
    pub media: MediaId,
    /// About how many bytes its line has.
    pub bytes: i64,
    /// Whether it has further lines.
    pub has_more: bool,
}

/// The site's next items after one, before the boundary; at most `limit`.
pub async fn planned(
    conn: &mut PgConnection,
    site: SiteId,
    (after, upto): (Uuid, Uuid),
    limit: i64,
) -> Result<Vec<Planned>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            -- The length of texts and files is known without reading them.
            2048 + coalesce(octet_length(m.body), 0) + coalesce(octet_length(m.metadata::text), 0)
            + coalesce(octet_length(i.bytes), 0)::bigint * 4 / 3
            + coalesce((select octet_length(a.providers::text) from analyses a where a.media_id = m.id), 0)
            + coalesce(
                (
                    select sum(octet_length(v.details::text) + octet_length(v.trace::text))::bigint
                    from verdicts v
                    where v.media_id = m.id and v.number <= $5::integer
                ),
                0
            ) as "bytes!",
            coalesce(m.verdict, 0) > $5
            or exists (select from review_notes n where n.media_id = m.id offset $5) as "has_more!"
        from media m
        left join media_images i on i.media_id = m.id
        where (m.site_id, m.id) > ($1, $2) and m.site_id = $1 and m.id < $3
        order by m.site_id, m.id
        limit $4
        "#,
        site.as_uuid(),
        after,
        upto,
        limit,
        PAGE,
    )
    .fetch_all(conn)
    .await?;
    let planned = rows.into_iter().map(|row| Planned {
        media: row.id.into(),
        bytes: row.bytes,
        has_more: row.has_more,
    });
    Ok(planned.collect())
}

/// The lines of these items, in the order of ids, without line ends. Each has the item's first [`PAGE`] verdicts and notes.
/// Items that were removed meanwhile are missing.
pub async fn lines(conn: &mut PgConnection, items: &[Uuid]) -> Result<Vec<String>, Error> {
    let lines = sqlx::query_scalar!(
        r#"
        select
            json_build_object(
                'id', m.id,
                'status', m.status,
                'content_type', m.content_type,
                'app_media_id', m.app_media_id,
                'author', m.author,
                'body', m.body,
                'content_url', m.content_url,
                -- As text, because its spacing is part of it.
                'metadata', m.metadata::text,
                'created_at', m.created_at,
                'content_removed_at', m.content_removed_at,
                'traceparent', encode(m.traceparent, 'hex'),
                'group_versions', m.group_versions,
                'verdict', m.verdict,
                'image', (
                    select
                        json_build_object(
                            'format', i.format,
                            'width', i.width,
                            'height', i.height,
                            'sha256', encode(i.sha256, 'hex'),
                            'pdq', encode(i.pdq, 'hex'),
                            'pdq_quality', i.pdq_quality,
                            'problem', i.problem,
                            'base64', translate(encode(i.bytes, 'base64'), E'\n', '')
                        )
                    from media_images i
                    where i.media_id = m.id
                ),
                'analysis', (
                    select
                        json_build_object(
                            'scores', a.scores,
                            'providers', a.providers,
                            'unchecked', a.unchecked,
                            'gaps', a.gaps,
                            'image_scored', a.image_scored,
                            'created_at', a.created_at
                        )
                    from analyses a
                    where a.media_id = m.id
                ),
                'verdicts', array(
                    select
                        json_build_object(
                            'number', v.number,
                            'status', v.status,
                            'previous_status', v.previous_status,
                            'moderation_type', v.moderation_type,
                            'details', v.details,
                            'trace', v.trace,
                            'moderated_at', v.moderated_at
                        )
                    from verdicts v
                    where v.media_id = m.id and v.number <= $2::integer
                    order by v.number
                ),
                'waiting_since', (select r.waiting_since from reviews r where r.media_id = m.id),
                'notes', array(
                    select json_build_object('id', n.id, 'actor_id', n.actor_id, 'body', n.body, 'written_at', n.written_at)
                    from review_notes n
                    where n.media_id = m.id
                    order by n.id
                    limit $2
                )
            )::text as "line!"
        from media m
        where m.id = any($1)
        order by m.id
        "#,
        items,
        PAGE,
    )
    .fetch_all(conn)
    .await?;
    Ok(lines.into_iter().map(one_line).collect())
}

/// A further line of an item, counted from 1: its next [`PAGE`] verdicts and notes. None: it has none, or the site has no such
/// item.
pub async fn page(
    conn: &mut PgConnection,
    (site, media): (SiteId, MediaId),
    number: i32,
) -> Result<Option<String>, Error> {
    let line = sqlx::query_scalar!(
        r#"
        with page as (
            select
                array(
                    select
                        json_build_object(
                            'number', v.number,
                            'status', v.status,
                            'previous_status', v.previous_status,
                            'moderation_type', v.moderation_type,
                            'details', v.details,
                            'trace', v.trace,
                            'moderated_at', v.moderated_at
                        )
                    from verdicts v
                    where
                        v.media_id = $1
                        and v.number > $2::integer * $3::integer
                        and v.number <= ($2::integer + 1) * $3::integer
                    order by v.number
                ) as verdicts,
                array(
                    select json_build_object('id', n.id, 'actor_id', n.actor_id, 'body', n.body, 'written_at', n.written_at)
                    from review_notes n
                    where n.media_id = $1
                    order by n.id
                    offset $2::integer * $3::integer
                    limit $3::integer
                ) as notes
        )
        select json_build_object('id', $1::uuid, 'page', $2::integer, 'verdicts', verdicts, 'notes', notes)::text as "line!"
        from page
        where
            (cardinality(verdicts) > 0 or cardinality(notes) > 0)
            and exists (select from media m where m.id = $1 and m.site_id = $4)
        "#,
        media.as_uuid(),
        number,
        PAGE,
        site.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(line.map(one_line))
}

/// Stored JSON could have line ends between its members. In JSON, a line end is never part of a value.
fn one_line(line: String) -> String {
    if line.contains(['\n', '\r']) {
        line.replace(['\n', '\r'], " ")
    } else {
        line
    }
}
