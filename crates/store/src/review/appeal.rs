//! Appeals: somebody else looks at an item again that was decided.

use chrono::{DateTime, Utc};
use domain::{
    id::{MediaId, ReviewId},
    review::Severity,
};
use sqlx::PgConnection;

use crate::Error;

/// An appeal that waits for a person.
#[derive(Clone, Copy, Debug)]
pub struct Appeal {
    /// The review.
    pub review: ReviewId,
    /// When it should be decided.
    pub due_at: DateTime<Utc>,
}

/// Opens a review of a decided item for people who have not decided it before; none if one is open.
/// It is at least as urgent as [`Severity::High`].
pub async fn open(conn: &mut PgConnection, media: MediaId) -> Result<Option<Appeal>, Error> {
    let row = sqlx::query!(
        r#"
        insert into review_tasks (
            id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at, not_for
        )
        select
            gen_random_uuid(), m.id, m.team_id, m.site_id, 'appeal', coalesce(m.verdict, 0), u.severity, f.categories, f.rules,
            clock_timestamp(),
            clock_timestamp()
            + make_interval(mins => (coalesce(d.minutes, '{2880,1440,240,60}'::integer []))[u.severity + 1]),
            array(
                select actor_id from review_opinions where media_id = m.id and outcome in ('told', 'agreed')
                union
                select coalesce(v.trace -> 'moderator' ->> 'member_id', v.trace -> 'moderator' ->> 'token_id')::uuid
                from verdicts v
                where
                    v.media_id = m.id and v.moderation_type = 'manual'
                    and coalesce(v.trace -> 'moderator' ->> 'member_id', v.trace -> 'moderator' ->> 'token_id') is not null
            )
        from media m
        left join desk_settings d on d.site_id = m.site_id
        cross join lateral review_flags(m.id) f
        cross join lateral review_urgency(m.team_id, f.categories, f.rules) p
        cross join lateral (select greatest(p.severity, $2) as severity) u
        where m.id = $1
        on conflict (media_id, kind, only_for) do nothing
        returning id, due_at
        "#,
        media.as_uuid(),
        Severity::High.number(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| Appeal {
        review: row.id.into(),
        due_at: row.due_at,
    }))
}
