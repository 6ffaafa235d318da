-- Some items (bench.first to bench.last), in the order of time. It runs again for the next ones. A few of the newest wait for a
-- person: their number is bench.waiting. Only those of the last days have events with deliveries.

create unlogged table bench.batch as
select
    d.n, d.at, d.waits, s.id as site, s.team_id as team, s.endpoint, bench.id_at(d.at, 'item ' || d.n) as id, t.body, t.group_versions,
    t.status, t.moderation_type, t.details, t.trace, t.scores, t.providers, t.unchecked, t.image_scored,
    d.at + interval '50 milliseconds' as judged_at
from (
    select
        n,
        bench.now() - interval '1 day' * bench.setting('days') * (1 - n::float8 / bench.setting('items')) as at,
        n > bench.setting('items') - bench.setting('items') / 20
        and n % greatest(bench.setting('items') / 20 / bench.setting('waiting'), 1) = 0 as waits,
        floor((select count(*) from bench.sites) * random() ^ 2) as site
    from generate_series(bench.setting('first'), bench.setting('last')) n
) d
join bench.sites s on s.number = d.site
join bench.templates t
    on (t.status = 'pending_review') = d.waits
    and t.number = d.n % (select count(*) from bench.templates o where (o.status = 'pending_review') = d.waits)
order by d.n;

insert into media (id, team_id, site_id, status, content_type, app_media_id, body, group_versions, verdict, created_at)
select id, team, site, status, 'text', 'item-' || n, body || ' (' || n || ')', group_versions, 1, at
from bench.batch
order by n;

insert into analyses (media_id, scores, providers, unchecked, image_scored, created_at)
select id, scores, providers, unchecked, image_scored, judged_at
from bench.batch
order by n;

insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
select id, 1, status, 'pending', moderation_type, details, trace, judged_at
from bench.batch
order by n;

insert into reviews (media_id, team_id, site_id, waiting_since)
select id, team, site, judged_at
from bench.batch
where waits
order by n;

create unlogged table bench.told as
select b.*, e.event, e.kind, e.verdict, e.occurred_at, delivery_id_of(e.event, b.endpoint) as delivery
from bench.batch b
cross join lateral (
    values
    (bench.id_at(b.at, 'accepted ' || b.n), 'media.created', null::smallint, b.at),
    (bench.id_at(b.judged_at, 'judged ' || b.n), 'media.moderated', 1, b.judged_at)
) e (event, kind, verdict, occurred_at)
where b.at > bench.now() - interval '1 day' * bench.setting('told_days')
order by b.n, e.occurred_at;

insert into events (id, media_id, site_id, kind, verdict, occurred_at)
select event, id, site, kind, verdict, occurred_at from bench.told;

insert into deliveries (id, event_id, endpoint_id, state, attempts, next_attempt_at, created_at, ended_at)
select delivery, event, endpoint, 'delivered', 1, null, occurred_at, occurred_at + interval '5 milliseconds' from bench.told;

insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body, url)
select delivery, 1, occurred_at, 2, 'delivered', 200, '', 'http://127.0.0.1:12345/' || endpoint from bench.told;

drop table bench.batch, bench.told;
