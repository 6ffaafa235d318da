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
/// none twice within 90 days, also if the person passed it on.
///
/// It looks like its neighbours: a machine sent it to a person, its image is still there, and it has
/// waited nearly as long as the review that the person has just ended. So it comes soon. No two
/// reviews have waited for exactly as long, and none begins to wait in the future.
pub(super) async fn with_known_answer(
    conn: &mut PgConnection,
    spoken: &Spoken,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with forgotten as (
            delete from review_tasks
            where
                only_for = $2 and leased_by is null and held_until is null and (tier = 2 or $2 = any(not_for))
                and waiting_since < now() - interval '90 days'
        )
        insert into review_tasks (
            id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at, only_for
        )
        select
            gen_random_uuid(), g.media_id, g.team_id, g.site_id, 'golden', coalesce(g.verdict, 0), p.severity, f.categories, f.rules,
            g.waiting_since, g.waiting_since + make_interval(mins => g.minutes[p.severity + 1]), $2
        from (
            select
                m.id as media_id, m.team_id, m.site_id, m.verdict, d.minutes,
                $3::timestamptz + random() * least(clock_timestamp() - $3::timestamptz, interval '1 minute') as waiting_since
            from desk_settings d
            join golden_items g on g.site_id = d.site_id
            join media m on m.id = g.media_id
            where
                d.site_id = $1 and random() * d.golden_every < 1
                and not exists (
                    select
                    from review_tasks t
                    where t.only_for = $2 and (t.tier = 1 and $2 <> all(t.not_for) or t.media_id = g.media_id)
                )
                and not exists (
                    select
                    from review_opinions o
                    where o.media_id = g.media_id and o.actor_id = $2 and o.said_at > now() - interval '90 days'
                )
                and (
                    select v.status
                    from verdicts v
                    where v.media_id = g.media_id and v.moderation_type <> 'manual'
                    order by v.number desc
                    limit 1
                ) = 'pending_review'
                and not exists (
                    select from media_images i where i.media_id = g.media_id and i.format is not null and i.bytes is null
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
        spoken.waiting_since,
    )
    .execute(conn)
    .await?;
    Ok(())
}
