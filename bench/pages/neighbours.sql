-- Other teams. Some have sites, rules, endpoints, items and jobs of their own; all others are only there.

create table bench.neighbours as
select
    n as number, bench.id_at(bench.now() - interval '100 days' + n * interval '1 minute', 'team ' || n) as team,
    bench.id_at(bench.now() - interval '100 days' + n * interval '1 minute', 'group ' || n) as "group",
    bench.id_at(bench.now() - interval '100 days' + n * interval '1 minute', 'first version ' || n) as version,
    n <= bench.setting('teams') / 5 as has_data
from generate_series(1, bench.setting('teams') - 1) n;

insert into teams (id, name, created_at)
select team, 'Neighbour ' || number, bench.now() - interval '100 days' + number * interval '1 minute' from bench.neighbours;

insert into subscriptions (team_id, plan_id, started_at)
select b.team, p.id, bench.now() - interval '90 days'
from bench.neighbours b
cross join (select id from plans where name = 'Benchmark') p;

insert into rule_groups (id, team_id, name, live_version_id)
select "group", team, 'Rules', version from bench.neighbours where has_data;

insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai, categories)
select b.version, b."group", 1, v.rules, v.uses_ai, v.categories
from bench.neighbours b
cross join bench.house h
join rule_group_versions v on v.id = h.first
where b.has_data;

create table bench.others as
select
    b.team, b.version, n as number,
    bench.id_at(bench.now() - interval '100 days', 'site ' || b.number || ' ' || n) as site,
    bench.id_at(bench.now() - interval '100 days', 'endpoint ' || b.number || ' ' || n) as endpoint
from bench.neighbours b, generate_series(1, 2) n
where b.has_data;

insert into sites (id, team_id, name, default_rule_group_id, webhook_secret)
select o.site, o.team, 'Site ' || o.number, b."group", '\x00'
from bench.others o
join bench.neighbours b on b.team = o.team;

insert into webhook_endpoints (id, site_id, url, events)
select endpoint, site, 'https://hooks.example/' || site, array['media.created', 'media.moderated'] from bench.others;

create table bench.foreign_items as
select
    o.team, o.site, o.version, n, bench.now() - n * interval '5 hours' as at,
    bench.id_at(bench.now() - n * interval '5 hours', 'item ' || o.site || n) as id
from bench.others o, generate_series(1, 100) n;

insert into media (id, team_id, site_id, status, content_type, app_media_id, body, group_versions, verdict, created_at)
select id, team, site, case when n % 10 = 0 then 'pending_review' else 'approved' end, 'text', 'item-' || n, 'Hello there', array[version], 1, at
from bench.foreign_items;

insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
select
    f.id, 1, case when f.n % 10 = 0 then 'pending_review' else 'approved' end, 'pending', 'rule', k.details,
    replace(k.trace, '00000000-0000-0000-0000-000000000000', f.version::text)::json, f.at
from bench.foreign_items f
join bench.kinds k on k.number = 0;

insert into reviews (media_id, team_id, site_id, waiting_since)
select id, team, site, at from bench.foreign_items where n % 10 = 0;

insert into events (id, media_id, site_id, kind, verdict, occurred_at)
select bench.acceptance_of(id), id, site, 'media.created', null::smallint, at from bench.foreign_items
union all
select bench.id_at(at, 'judged ' || id), id, site, 'media.moderated', 1, at from bench.foreign_items;

insert into audit_log (id, team_id, actor, action, target_id, details, occurred_at)
select bench.id_at(bench.now() - n * interval '1 hour', 'audit ' || b.team || n), b.team, 'command_line', 'site.update', b.team, '{}',
    bench.now() - n * interval '1 hour'
from bench.neighbours b, generate_series(1, 20) n
where b.has_data;

insert into users (id, email, name, password_hash)
select bench.id_at(bench.now() - interval '90 days', 'neighbour ' || number), 'neighbour-' || number || '@bench.example',
    'Neighbour ' || number, '$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA'
from bench.neighbours
where has_data;

insert into memberships (id, user_id, team_id, role)
select bench.id_at(bench.now() - interval '90 days' + number * interval '1 second', 'neighbour member ' || number),
    bench.id_at(bench.now() - interval '90 days', 'neighbour ' || number), team, 'owner'
from bench.neighbours
where has_data;

-- Some have much to do.
select queue.enqueue(
    array_agg((array['images', 'analysis', 'rules'])[1 + n % 3]), array_agg(b.team), array_agg(b.team),
    array_agg(json_build_object('media', gen_random_uuid())::text), array_agg(0::smallint), array_agg(0::smallint),
    array_agg((n % 7) * 60000::bigint), array_agg(5::smallint)
)
from bench.neighbours b, generate_series(1, 50) n
where b.has_data;
