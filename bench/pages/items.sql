-- Some items (bench.first to bench.last) with verdicts, analyses, events, images and deliveries, in the order of time. It runs again
-- for the next ones.

create unlogged table bench.batch as
select
    d.n, d.at, d.author, d.will_fail, s.id as site, s.team_id as team, s.endpoint, s.number as site_number, v.id as version,
    k.body, k.scores, k.status, k.moderation_type, k.details, k.trace,
    bench.id_at(d.at, 'item ' || d.n) as id,
    d.at + (40 + d.n % 600) * interval '1 millisecond' as judged_at,
    -- The newest items are not judged yet.
    d.n > d.items - least(200, d.items / 100) as is_pending,
    case when k.status = 'pending_review' and d.at < bench.now() - interval '1 day' and d.n % 32 <> 0
         then d.at + (5 + d.n % 400) * interval '1 minute' end as decided_at,
    d.n % 50 = 0 as has_image,
    d.n > d.items - bench.setting('deliveries') / 2 as is_told
from (
    select
        n, bench.setting('items') as items, bench.now() - interval '30 days' * (1 - n::float8 / bench.setting('items')) as at,
        19 * random() ^ 2 as site, random() as kind, 'author-' || floor(50000 * random() ^ 3) as author, random() < 0.03 as will_fail
    from generate_series(bench.setting('first'), bench.setting('last')) n
) d
join bench.sites s on s.number = floor(d.site)
join bench.slots l
    on l.slot = case when d.n = d.items / 50 then -1 else floor(d.kind * (select count(*) - 1 from bench.slots)) end
join bench.kinds k on k.number = l.kind
join bench.versions v on v.number = 1 + floor((d.n - 1)::float8 / d.items * bench.setting('versions'))
order by d.n;

insert into media (
    id, team_id, site_id, status, content_type, app_media_id, body, content_url, metadata, author, group_versions, verdict, created_at
)
select
    id, team, site,
    case when is_pending then 'pending' when decided_at is null then status when n % 2 = 0 then 'rejected' else 'approved' end,
    case when has_image then 'image' else 'text' end,
    case when n % 1000 = 0 then 'front-page' else 'item-' || n end,
    body || ' (' || n || ')', case when has_image then 'https://pictures.example/' || n || '.jpg' end,
    json_build_object('author', author, 'listing', n), author, array[version],
    case when is_pending then null when decided_at is null then 1 else 2 end, at
from bench.batch
order by n;

insert into media_images (media_id, site_id, format, width, height, sha256, pdq, pdq_quality)
select id, site, 'jpeg', 640, 480, sha256(uuid_send(id)), sha256(uuid_send(site) || uuid_send(id)), 90
from bench.batch
where has_image
order by n;

insert into analyses (media_id, scores, providers, unchecked, created_at)
select
    id, scores,
    json_build_array(json_build_object('provider', 'builtin', 'modality', 'text', 'scores', scores, 'elapsed_ms', 1)), '[]',
    judged_at
from bench.batch
where not is_pending
order by n;

insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
select id, 1, status, 'pending', moderation_type, details,
    replace(trace, '00000000-0000-0000-0000-000000000000', version::text)::json, judged_at
from bench.batch
where not is_pending
order by n;

insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
select
    b.id, 2, case when b.n % 2 = 0 then 'rejected' else 'approved' end, 'pending_review', 'manual',
    json_build_object('rule_violations', b.details -> 'rule_violations', 'reason', 'Looked at it.'),
    json_build_object('moderator', json_build_object('member_id', p.member, 'member_name', p.name), 'reason', 'Looked at it.'),
    b.decided_at
from bench.batch b
join bench.people p on p.number = 3 + b.n % (bench.setting('people') - 2)
where b.decided_at is not null and not b.is_pending
order by b.n;

insert into reviews (media_id, team_id, site_id, waiting_since)
select id, team, site, judged_at
from bench.batch
where status = 'pending_review' and decided_at is null and not is_pending
order by n;

create unlogged table bench.told as
select b.*, e.event, e.kind, e.verdict, e.occurred_at
from bench.batch b
cross join lateral (
    select bench.acceptance_of(b.id) as event, 'media.created' as kind, null::smallint as verdict, b.at as occurred_at
    union all
    select bench.id_at(b.judged_at, 'judged ' || b.n), 'media.moderated', 1, b.judged_at where not b.is_pending
    union all
    select bench.id_at(b.decided_at, 'decided ' || b.n), 'media.moderated', 2, b.decided_at
    where b.decided_at is not null and not b.is_pending
) e
order by b.n, e.occurred_at;

insert into events (id, media_id, site_id, kind, verdict, occurred_at)
select event, id, site, kind, verdict, occurred_at from bench.told;

-- The endpoint of one site fails, that of another one was disabled, and the newest deliveries wait.
create unlogged table bench.sent as
select
    t.event, t.endpoint, t.id as media, t.occurred_at, t.will_fail, delivery_id_of(t.event, t.endpoint) as delivery, f.state,
    case f.state
        when 'delivered' then 1 + t.will_fail::integer
        when 'exhausted' then 9
        when 'discarded' then 0
        else case when t.site_number = 3 then 4 else 0 end
    end as attempts
from bench.told t
cross join lateral (
    select case
        when t.site_number = 7 then 'discarded'
        when t.site_number = 3 and t.occurred_at < bench.now() - interval '12 hours' then 'exhausted'
        when t.site_number = 3 then 'pending'
        when t.n > bench.setting('items') - bench.setting('deliveries') / 100 then 'pending'
        else 'delivered'
    end as state
) f
where t.is_told;

insert into deliveries (id, event_id, endpoint_id, state, attempts, next_attempt_at, created_at, ended_at)
select
    delivery, event, endpoint, state, attempts, case when state = 'pending' then bench.now() + interval '1 hour' end,
    occurred_at, case when state <> 'pending' then occurred_at + interval '1 second' end
from bench.sent;

insert into delivery_attempts
    (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body, url, error)
select
    delivery, a, occurred_at + a * interval '10 minutes' - interval '9 minutes', 20 + a,
    case when state = 'delivered' and a = attempts then 'delivered' when a % 2 = 0 then 'connect' else 'status' end,
    case when state = 'delivered' and a = attempts then 200 when a % 2 = 1 then 503 end,
    case when a % 2 = 1 and not (state = 'delivered' and a = attempts) then convert_to('Please try again later.', 'UTF8') end,
    'https://hooks.example/' || endpoint,
    case when a % 2 = 0 and not (state = 'delivered' and a = attempts) then 'the connection could not be established' end
from bench.sent
cross join generate_series(1, attempts) a;

-- One job for up to 16 waiting deliveries of an endpoint.
select queue.enqueue(
    array_agg('webhooks'::text), array_agg(j.team_id), array_agg(j.endpoint), array_agg(j.payload), array_agg(1::smallint),
    array_agg(0::smallint), array_agg(j.delay), array_agg(40::smallint)
)
from (
    select
        s.team_id, w.endpoint, case when s.number = 3 then 3600000::bigint else 0::bigint end as delay,
        json_build_object('team', s.team_id, 'turns', json_agg(json_build_array(w.delivery)))::text as payload
    from (
        select endpoint, delivery, row_number() over (partition by endpoint order by occurred_at) / 16 as page
        from bench.sent
        where state = 'pending'
    ) w
    join bench.sites s on s.endpoint = w.endpoint
    group by s.team_id, w.endpoint, s.number, w.page
) j
having count(*) > 0;

drop table bench.batch, bench.told, bench.sent;
