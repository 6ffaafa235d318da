//! The statement that accepts a batch.

use std::collections::{HashMap, HashSet};

use domain::id::MediaId;
use queue::{NewJobs, Queue};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Acceptance, NewMedia, columns::Columns, routing::Routing};

/// What became of a batch.
#[derive(Default)]
pub(super) struct Inserted {
    /// What is certain.
    pub(super) settled: HashMap<MediaId, Acceptance>,
    /// Those that are blocked by an expired idempotency key.
    pub(super) expired: HashSet<MediaId>,
}

/// Stores those submissions of the batch that may be stored, and returns the result of each. No two
/// of them may have the same idempotency key.
///
/// Their jobs go to the workers of this process if it has any with room. Otherwise they wait for a
/// claim.
///
/// # Errors
/// When two processes store requests with the same idempotency key at the same time, one violates
/// its unique index; see [`is_race`]. When it waits for a lock for as long as `lock_timeout` says, in
/// the form of that setting. Then nothing of the batch is stored.
#[expect(clippy::too_many_lines, reason = "nearly all of it is one statement")]
pub(super) async fn insert(
    conn: &mut PgConnection,
    batch: &[&NewMedia],
    routing: &Routing,
    queue: &Queue,
    lock_timeout: &str,
) -> Result<Inserted, sqlx::Error> {
    let columns = Columns::of(batch.iter().copied(), routing);
    let jobs = columns.jobs.columns()?;
    let offer = queue.reserve(&columns.jobs);
    let held = offer.columns();
    let rows = sqlx::query!(
        r#"
        -- Somebody else may have locked a team's row of usage. The statement fails then, so that it can be tried without that team.
        with patience as materialized (
            select set_config('lock_timeout', $34, true)
        ),
        input as materialized (
            select i.*
            -- First, because it applies to what is locked afterwards.
            from patience
            cross join unnest(
                $1::uuid [], $2::uuid [], $3::bytea [], $4::bigint [], $5::text [], $6::text [], $7::text [],
                $8::text [], $9::text [], $10::text [], $11::text [], $12::bytea [], $13::boolean [], $24::integer [],
                $32::text [], $33::bytea [], $35::boolean []
            ) with ordinality as i (
                id, event_id, key_hash, revision, content_type, app_media_id, body,
                content_url, metadata, group_versions, idempotency_key, fingerprint, inline, webhooks, author,
                traceparent, is_transient, ordinal
            )
        ),
        -- Those whose key and site are what they were prepared for.
        known as materialized (
            select
                i.*, s.id as site_id, s.team_id,
                b.started_at <= now() and (
                    b.state = 'active' or (b.state = 'past_due' and b.past_due_since > now() - interval '7 days')
                ) as subscribed,
                p.submissions_per_period as quota,
                p.deliveries_per_period as delivery_quota,
                b.started_at,
                f.media_id as first_id,
                f.fingerprint = i.fingerprint as is_repetition,
                f.created_at <= now() - interval '24 hours' as is_expired
            from input i
            join site_keys k on k.hash = i.key_hash and k.disabled_at is null
            join sites s on s.id = k.site_id and s.revision = i.revision
            left join subscriptions b on b.team_id = s.team_id
            left join plans p on p.id = b.plan_id
            -- The limit keeps it apart, so that both columns are looked up in the index, whatever the planner knows.
            left join lateral (
                select k.media_id, k.fingerprint, k.created_at
                from idempotency_keys k
                where k.site_id = s.id and k.key = i.idempotency_key
                limit 1
            ) f on true
        ),
        -- What causes the fewest webhooks comes first. So those of a team that its quotas allow are a beginning of all that it
        -- asks for, and nothing is refused that would have fitted. `running` counts the webhooks of such a beginning.
        fresh as materialized (
            select
                *,
                row_number() over so_far as place,
                sum(webhooks) over so_far as running
            from known k
            where subscribed and first_id is null
            -- An inline image is there already, unless no quota was left for it a moment ago.
            and (not inline or exists (select from media_images m where m.media_id = k.id))
            window so_far as (partition by team_id order by webhooks, ordinal rows unbounded preceding)
        ),
        -- The row of a team and period is locked until the commit, by all processes in the order of the teams.
        booked as (
            insert into usage as u (team_id, period_start, submissions, deliveries, quota, delivery_quota, granted)
            select
                team_id, billing_period(started_at, now()), granted, webhooks, quota, delivery_quota, granted
            from (
                -- What the quotas allow of an empty period, and so the most that they allow.
                select
                    team_id, started_at, quota, delivery_quota, count(*) filter (where fits) as granted,
                    coalesce(max(running) filter (where fits), 0) as webhooks
                from (
                    select
                        *,
                        place <= coalesce(quota, place) and running <= coalesce(delivery_quota, running) as fits
                    from fresh
                ) f
                group by team_id, started_at, quota, delivery_quota
            ) most
            order by team_id
            on conflict (team_id, period_start) do update set
                (submissions, deliveries, quota, delivery_quota, granted) = (
                    select
                        u.submissions + g.items, u.deliveries + g.webhooks, excluded.quota, excluded.delivery_quota, g.items
                    from (
                        select
                            coalesce(excluded.quota, 9223372036854775807) - u.submissions as items,
                            greatest(coalesce(excluded.delivery_quota, 9223372036854775807) - u.deliveries, 0) as webhooks
                    ) rest
                    cross join lateral (
                        select excluded.granted as items, excluded.deliveries as webhooks
                        where excluded.granted <= rest.items and excluded.deliveries <= rest.webhooks
                        union all
                        -- Only near the end of a quota is it looked at how many fit.
                        select count(*), coalesce(max(f.running), 0)
                        from fresh f
                        where
                            f.team_id = excluded.team_id and f.place <= least(rest.items, excluded.granted)
                            and f.running <= rest.webhooks
                        having excluded.granted > rest.items or excluded.deliveries > rest.webhooks
                    ) g
                )
            returning team_id, granted, coalesce(submissions < quota, true) as has_submissions
        ),
        admitted as materialized (
            select *
            from (
                -- Not a join, which would compare all rows with all teams: the planner expects one of each.
                select f.*, (team_id, place) in (select b.team_id, generate_series(1, b.granted) from booked b) as granted
                from fresh f
            ) placed
            where granted
        ),
        new_keys as (
            insert into idempotency_keys (site_id, key, fingerprint, media_id)
            select site_id, idempotency_key, fingerprint, id
            from admitted
            where idempotency_key is not null
            order by site_id, idempotency_key
        ),
        new_media as (
            insert into media
                (id, team_id, site_id, content_type, app_media_id, body, content_url, metadata, group_versions, author,
                traceparent, is_transient)
            select
                id, team_id, site_id, content_type, app_media_id, body, content_url, metadata::json,
                group_versions::uuid [], author, traceparent, nullif(is_transient, false)
            from admitted
        ),
        new_events as (
            insert into events (id, media_id, site_id, kind)
            select event_id, id, site_id, 'media.created' from admitted where event_id is not null
        ),
        new_deliveries as (
            insert into deliveries (id, event_id, endpoint_id)
            select d.id, a.event_id, d.endpoint_id
            from unnest($14::bigint [], $15::uuid [], $16::uuid []) as d (ordinal, id, endpoint_id)
            join admitted a using (ordinal)
        ),
        new_jobs as (
            select e.places, e.ids
            from (
                select
                    array_agg(j.place) as places, array_agg(j.queue) as queues, array_agg(j.grp) as groups,
                    array_agg(j.lane) as lanes, array_agg(j.payload) as payloads, array_agg(j.format) as formats,
                    array_agg(j.priority) as priorities, array_agg(j.delay_ms) as delays_ms,
                    array_agg(j.max_attempts) as max_attempts, array_agg(j.wanted) as wanted,
                    array_agg(j.group_cap) as group_caps, array_agg(j.lane_cap) as lane_caps
                from unnest(
                    $17::bigint [], $18::text [], $25::uuid [], $19::uuid [], $20::text [], $26::smallint [],
                    $21::smallint [], $22::bigint [], $23::smallint [], $27::integer [], $28::boolean [], $29::integer [],
                    $30::integer []
                ) as j (
                    ordinal, queue, grp, lane, payload, format, priority, delay_ms, max_attempts, place, wanted,
                    group_cap, lane_cap
                )
                join admitted a using (ordinal)
            ) j
            cross join lateral queue.enqueue_held(
                $31, j.places, j.queues, j.groups, j.lanes, j.payloads, j.formats, j.priorities, j.delays_ms,
                j.max_attempts, j.wanted, j.group_caps, j.lane_caps
            ) e
        )
        select
            i.id as "id!",
            a.id is not null as "admitted!",
            k.id is not null as "known!",
            coalesce(k.subscribed, false) as "subscribed!",
            k.first_id as "first_id?",
            coalesce(k.is_repetition, false) as "is_repetition!",
            coalesce(k.is_expired, false) as "is_expired!",
            -- With submissions left, it was its webhooks that did not fit.
            k.team_id in (select b.team_id from booked b where b.has_submissions)
            or a.id is null and i.inline and coalesce(
                (
                    select u.submissions
                    from usage u
                    where u.team_id = k.team_id and u.period_start = billing_period(k.started_at, now())
                ),
                0
            ) < coalesce(k.quota, 9223372036854775807) as "has_submissions?",
            -- What became of the jobs is told once.
            case when i.ordinal = 1 then j.places end as "places?",
            case when i.ordinal = 1 then j.ids end as "ids?: Vec<Option<i64>>"
        from input i
        left join known k using (ordinal)
        left join admitted a using (ordinal)
        -- Reading new_jobs makes it run.
        cross join new_jobs j
        "#,
        &columns.id,
        &columns.event as &[Option<Uuid>],
        &columns.key_hash as &[&[u8]],
        &columns.revision,
        &columns.content_type as &[&str],
        &columns.app_media_id as &[Option<&str>],
        &columns.body as &[Option<&str>],
        &columns.content_url as &[Option<&str>],
        &columns.metadata as &[Option<&str>],
        &columns.group_versions,
        &columns.idempotency_key as &[Option<&str>],
        &columns.fingerprint as &[Option<&[u8]>],
        &columns.inline,
        &columns.delivery.ordinal,
        &columns.delivery.id,
        &columns.delivery.endpoint,
        &columns.job_ordinal,
        jobs.queues as &[&str],
        jobs.lanes,
        jobs.payloads,
        jobs.priorities,
        jobs.delays_ms,
        jobs.max_attempts,
        &columns.webhooks,
        jobs.groups,
        jobs.formats,
        held.places,
        held.wanted,
        held.group_caps as &[Option<i32>],
        held.lane_caps as &[Option<i32>],
        held.worker,
        &columns.author as &[Option<&str>],
        &columns.traceparent as &[Option<Vec<u8>>],
        lock_timeout,
        &columns.transient,
    )
    .fetch_all(conn)
    .await?;

    let told = rows
        .iter()
        .find_map(|row| row.places.as_ref().zip(row.ids.as_ref()));
    if let Some((places, ids)) = told {
        offer.committed(&columns.jobs, places, ids);
    }
    let mut inserted = Inserted::default();
    let mut stored_before = HashSet::new();
    for row in rows {
        let id = MediaId::from(row.id);
        let acceptance = match row.first_id.map(MediaId::from) {
            _ if row.admitted => Acceptance::Accepted,
            _ if !row.known => Acceptance::Stale,
            _ if !row.subscribed => Acceptance::NoSubscription,
            None if row.has_submissions == Some(true) => Acceptance::DeliveriesExceeded,
            None => Acceptance::QuotaExceeded,
            Some(_) if row.is_expired => {
                inserted.expired.insert(id);
                continue;
            }
            // This is its own row: the commit whose answer was lost did happen.
            Some(first) if first == id => {
                stored_before.insert(id);
                Acceptance::Accepted
            }
            Some(first) if row.is_repetition => Acceptance::Repeated(first),
            Some(_) => Acceptance::IdempotencyConflict,
        };
        inserted.settled.insert(id, acceptance);
    }
    queue.enqueued(&jobs_of(batch, routing, |id| stored_before.contains(&id)));
    Ok(inserted)
}

/// The jobs of some submissions of the batch.
fn jobs_of(batch: &[&NewMedia], routing: &Routing, stored: impl Fn(MediaId) -> bool) -> NewJobs {
    let stored = batch.iter().copied().filter(|media| stored(media.id));
    Columns::of(stored, routing).jobs
}

/// Whether another process has just stored a request with the same idempotency key. The next try
/// finds that request.
pub(super) fn is_race(error: &sqlx::Error) -> bool {
    constraint_of(error) == Some("idempotency_keys_pkey")
}

/// Whether a row of the batch is there already.
pub(super) fn is_own_row(error: &sqlx::Error) -> bool {
    // The ids of its event and deliveries, if it has any, follow from its own id. The server
    // chooses which of them it reports first.
    matches!(
        constraint_of(error),
        Some("media_pkey" | "events_pkey" | "deliveries_pkey")
    )
}

fn constraint_of(error: &sqlx::Error) -> Option<&str> {
    error
        .as_database_error()
        .and_then(|error| error.constraint())
}

/// Which of these were stored by a commit whose answer was lost.
pub(super) async fn existing(
    conn: &mut PgConnection,
    batch: &[&NewMedia],
    routing: &Routing,
    queue: &Queue,
) -> Result<Inserted, sqlx::Error> {
    let ids: Vec<Uuid> = batch.iter().map(|media| media.id.as_uuid()).collect();
    let found = sqlx::query_scalar!("select id from media where id = any($1)", &ids)
        .fetch_all(conn)
        .await?;
    let settled: HashMap<_, _> = found
        .into_iter()
        .map(|id| (MediaId::from(id), Acceptance::Accepted))
        .collect();
    queue.enqueued(&jobs_of(batch, routing, |id| settled.contains_key(&id)));
    Ok(Inserted {
        settled,
        expired: HashSet::new(),
    })
}

/// Forgets the idempotency keys of these if they have expired.
pub(super) async fn forget_expired(
    conn: &mut PgConnection,
    batch: &[&NewMedia],
) -> Result<(), sqlx::Error> {
    let (sites, keys): (Vec<Uuid>, Vec<&str>) = batch
        .iter()
        .filter_map(|media| {
            let idempotency = media.idempotency.as_ref()?;
            Some((media.site.id.as_uuid(), idempotency.key.as_str()))
        })
        .unzip();
    sqlx::query!(
        "
        delete from idempotency_keys f
        using unnest($1::uuid [], $2::text []) as i (site_id, key)
        where f.site_id = i.site_id and f.key = i.key and f.created_at <= now() - interval '24 hours'
        ",
        &sites,
        &keys as &[&str],
    )
    .execute(conn)
    .await?;
    Ok(())
}
