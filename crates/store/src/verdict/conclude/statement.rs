//! The statement that stores verdicts, with their events and deliveries.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::columns::Columns;

pub(super) struct Decided {
    pub(super) media_id: Uuid,
    pub(super) team_id: Uuid,
    pub(super) number: i16,
    pub(super) status: String,
    pub(super) moderation_type: String,
    pub(super) moderated_at: DateTime<Utc>,
    pub(super) seconds: f64,
    pub(super) is_transient: bool,
    pub(super) endpoint_id: Option<Uuid>,
    pub(super) delivery_id: Option<Uuid>,
}

/// One row for each delivery, or for an item without any: items together, and of an item the
/// deliveries of an endpoint together, the acceptance's first.
#[expect(clippy::too_many_lines, reason = "nearly all of it is one statement")]
pub(super) async fn decide(
    conn: &mut PgConnection,
    verdicts: &Columns<'_>,
) -> Result<Vec<Decided>, sqlx::Error> {
    // The guard names the status and the number of the present verdict: of two callers that saw the
    // same verdict, one wins. The time is taken after the row is locked, so that an item's verdicts
    // are in the order of their times.
    sqlx::query_as!(
        Decided,
        r#"
        with input as materialized (
            select i.*, i.endpoint_ids::uuid [] as endpoints
            from unnest(
                $1::uuid [], $2::smallint [], $3::text [], $4::text [], $5::text [], $6::text [], $7::text [],
                $8::uuid [], $9::uuid [], $10::text [], $11::text [], $12::boolean [], $13::text [], $14::text [],
                $15::text []
            ) as i (
                media_id, number, previous_status, status, moderation_type, details, trace,
                event_id, created_id, endpoint_ids, scores, image_scored, providers, unchecked, gaps
            )
        ),
        concluded as materialized (
            update media m
            set status = i.status, verdict = i.number
            from input i
            where m.id = i.media_id and m.status = i.previous_status and coalesce(m.verdict, 0) = i.number - 1 and m.erased_at is null
            returning m.id, m.team_id, m.site_id, m.created_at, m.is_transient, i.*, clock_timestamp() as moderated_at
        ),
        new_analyses as (
            insert into analyses (media_id, scores, image_scored, providers, unchecked, gaps)
            select id, scores::json, image_scored, providers::json, unchecked::json, gaps::json
            from concluded
            where providers is not null
            on conflict on constraint analyses_pkey do nothing
        ),
        new_verdicts as (
            insert into verdicts
                (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
            select id, number, status, previous_status, moderation_type, details::json, trace::json, moderated_at
            from concluded
        ),
        new_reviews as (
            insert into reviews (media_id, team_id, site_id, waiting_since)
            select id, team_id, site_id, moderated_at from concluded where status = 'pending_review' and is_transient is null
        ),
        ended_reviews as (
            delete from reviews
            where media_id in (select id from concluded where previous_status = 'pending_review')
        ),
        -- That of an acceptance may be there already.
        new_events as (
            insert into events (id, media_id, site_id, verdict, occurred_at, kind)
            select created_id, id, site_id, null::smallint, created_at, 'media.created'
            from concluded
            where created_id is not null
            union all
            select event_id, id, site_id, number, moderated_at, 'media.moderated' from concluded where is_transient is null
            on conflict (id) do nothing
            returning id
        ),
        -- One row for each delivery, or for an item without any.
        told as materialized (
            select
                c.id, c.team_id, c.number, c.status, c.moderation_type, c.moderated_at, c.created_at, c.is_transient,
                d.endpoint_id, d.event_id, d.place, delivery_id_of(d.event_id, d.endpoint_id) as delivery_id
            from concluded c
            left join lateral (
                select e.id as endpoint_id, k.event_id, k.place
                from webhook_endpoints e
                cross join (values (c.created_id, 1), (c.event_id, 2)) as k (event_id, place)
                where
                    e.site_id = c.site_id and c.is_transient is null
                    and case k.place
                        when 2 then e.disabled_at is null and 'media.moderated' = any(e.events)
                        else
                            k.event_id in (select id from new_events)
                            and (
                                e.id = any(c.endpoints)
                                -- As in `created::tell`: recoveries of what an endpoint has missed.
                                or e.disabled_at is null and 'media.created' = any(e.events) and exists (
                                    select
                                    from webhook_recoveries r
                                    where
                                        r.endpoint_id = e.id and r.kind = 'missing' and r.state in ('running', 'finished')
                                        and coalesce(r.event, 'media.created') = 'media.created'
                                        and r.created_at > c.created_at
                                        and r.since <= c.created_at and r.until > c.created_at
                                )
                            )
                    end
            ) d on true
        ),
        new_deliveries as (
            insert into deliveries (id, event_id, endpoint_id)
            select delivery_id, event_id, endpoint_id from told where delivery_id is not null
        )
        select
            id as "media_id!",
            team_id as "team_id!",
            number as "number!",
            status as "status!",
            moderation_type as "moderation_type!",
            moderated_at as "moderated_at!",
            extract(epoch from moderated_at - created_at)::float8 as "seconds!",
            is_transient is not null as "is_transient!",
            endpoint_id as "endpoint_id?",
            delivery_id as "delivery_id?"
        from told
        order by id, endpoint_id, place
        "#,
        &verdicts.media,
        &verdicts.number,
        &verdicts.previous as &[&str],
        &verdicts.status as &[&str],
        &verdicts.moderation_type as &[&str],
        &verdicts.details as &[&str],
        &verdicts.trace as &[&str],
        &verdicts.event,
        &verdicts.created as &[Option<Uuid>],
        &verdicts.endpoints as &[Option<String>],
        &verdicts.scores as &[Option<String>],
        &verdicts.image_scored as &[Option<bool>],
        &verdicts.providers as &[Option<String>],
        &verdicts.unchecked as &[Option<String>],
        &verdicts.gaps as &[Option<String>],
    )
    .fetch_all(conn)
    .await
}
