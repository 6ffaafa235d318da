//! Reviews that follow a decision: a second look that the person knows nothing of, and an item whose
//! answer is known.
//!
//! They are drawn here and not when a review is claimed, so that claims of all kinds of reviews are
//! the same statement and take the same time.

use sqlx::PgConnection;

use super::load::Spoken;

/// Shows a share of what one person decided to a second one.
pub(super) async fn with_audit(
    conn: &mut PgConnection,
    spoken: &Spoken,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into review_tasks (
            id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at, not_for
        )
        select
            gen_random_uuid(), m.id, m.team_id, m.site_id, 'audit', m.verdict, p.severity, f.categories, f.rules,
            clock_timestamp(), clock_timestamp() + make_interval(mins => d.minutes[p.severity + 1]), array[$2::uuid]
        from media m
        join desk_settings d on d.site_id = m.site_id
        cross join lateral review_flags(m.id) f
        cross join lateral review_urgency(m.team_id, f.categories, f.rules) p
        where m.id = $1 and random() * 100 < d.audit_percent
        on conflict (media_id, kind, only_for) do nothing
        ",
        spoken.media.as_uuid(),
        spoken.actor.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Every so often, the person gets an item of the site whose answer is known, one at a time, and
/// none twice within 90 days. It is due when the review was due that the person has just ended, so
/// it comes soon and looks like its neighbours.
pub(super) async fn with_known_answer(
    conn: &mut PgConnection,
    spoken: &Spoken,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into review_tasks (
            id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at, only_for
        )
        select
            gen_random_uuid(), g.media_id, g.team_id, g.site_id, 'golden', coalesce(g.verdict, 0), p.severity, f.categories, f.rules,
            g.due_at - make_interval(mins => g.minutes[p.severity + 1]), g.due_at, $2
        from (
            select m.id as media_id, m.team_id, m.site_id, m.verdict, d.minutes, $3::timestamptz as due_at
            from desk_settings d
            join golden_items g on g.site_id = d.site_id
            join media m on m.id = g.media_id
            where
                d.site_id = $1 and random() * d.golden_every < 1
                and not exists (select from review_tasks t where t.only_for = $2)
                and not exists (
                    select
                    from review_opinions o
                    where o.media_id = g.media_id and o.actor_id = $2 and o.said_at > now() - interval '90 days'
                )
            order by random()
            limit 1
        ) g
        cross join lateral review_flags(g.media_id) f
        cross join lateral review_urgency(g.team_id, f.categories, f.rules) p
        on conflict (media_id, kind, only_for) do nothing
        ",
        spoken.site.as_uuid(),
        spoken.actor.as_uuid(),
        spoken.due_at,
    )
    .execute(conn)
    .await?;
    Ok(())
}
