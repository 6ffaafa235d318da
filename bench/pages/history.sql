-- What happened beside the items: the audit log, backtests, a shadow's findings, recoveries, usage, dead jobs, providers.

insert into audit_log (id, team_id, actor, actor_id, action, target_id, details, request_id, occurred_at)
select
    bench.id_at(a.at, 'audit ' || a.n), s.team_id, case when a.n % 10 = 0 then 'command_line' else 'member' end,
    case when a.n % 10 <> 0 then p.member end,
    (array['site.update', 'media.decide', 'media.decide', 'rule_group.edit', 'rule_group.publish', 'endpoint.update', 'key.rotate',
           'delivery.resend', 'token.create', 'session.create'])[1 + a.n % 10],
    case when a.n % 10 < 3 then s.id else h.id end,
    json_build_object('before', json_build_object('name', 'Old ' || a.n), 'after', json_build_object('name', 'New ' || a.n)),
    'req-' || a.n, a.at
from (
    select n, bench.now() - interval '180 days' * (1 - n::float8 / bench.setting('audit')) as at
    from generate_series(1, bench.setting('audit')) n
) a
join bench.people p on p.number = 1 + a.n % bench.setting('people')
join bench.sites s on s.number = a.n % 20
cross join bench.house h
order by a.n;

insert into backtests (
    id, team_id, rule_group_id, version_id, rules, until, item_limit, total, state, looked_at, changed, listed, created_at, ended_at
)
select
    bench.id_at(bench.now() - n * interval '1 day', 'backtest ' || n), h.team_id, h.id, v.id, r.rules,
    bench.now() - n * interval '1 day', 100000, 100000, 'finished', 100000, 2000, 1000, bench.now() - n * interval '1 day',
    bench.now() - n * interval '1 day' + interval '4 minutes'
from bench.house h, generate_series(1, 60) n, bench.versions v, rule_group_versions r
where v.number = 1 and r.id = v.id;

insert into backtest_counts (backtest_id, old_status, new_status, decided, items)
select b.id, c.old, c.new, 'nobody', c.items
from backtests b
cross join (values ('approved', 'approved', 98000), ('approved', 'rejected', 1500), ('rejected', 'approved', 500)) c (old, new, items);

insert into backtest_changes (backtest_id, media_id, old_status, new_status, decided, rule_ids)
select b.id, m.id, 'approved', 'rejected', 'nobody', array[(v.rules -> 0 ->> 'id')::uuid]
from (select id, version_id from backtests order by id desc limit 5) b
join rule_group_versions v on v.id = b.version_id
cross join (select id from media order by id desc limit 1000) m;

insert into shadow_counts (version_id, slot, live_status, shadow_status, unscored, items)
select g.shadow_version_id, n, 'approved', (array['approved', 'rejected'])[n % 2 + 1], false, 10000
from rule_groups g, generate_series(0, 7) n
where g.shadow_version_id is not null;

insert into shadow_differences (version_id, media_id, live_status, shadow_status)
select g.shadow_version_id, m.id, 'approved', 'rejected'
from rule_groups g
cross join (select id from media order by id desc limit 1000) m
where g.shadow_version_id is not null;

insert into webhook_recoveries
    (id, endpoint_id, site_id, team_id, kind, since, until, state, looked_at, resent, created_at, ended_at)
select
    bench.id_at(bench.now() - n * interval '1 day', 'recovery ' || n || ' ' || s.number), s.endpoint, s.id, s.team_id, 'failed',
    bench.now() - n * interval '2 days', bench.now() - n * interval '1 day', 'finished', 1000, 900, bench.now() - n * interval '1 day',
    bench.now() - n * interval '1 day' + interval '1 minute'
from bench.sites s, generate_series(1, 60) n
where s.number in (0, 3);

insert into webhook_endpoint_states (endpoint_id, failing_since, failures, openings, open_until)
select endpoint, bench.now() - interval '12 hours', 64, 9, bench.now() + interval '1 hour' from bench.sites where number = 3;

update webhook_endpoints e
set disabled_at = bench.now() - interval '2 days', disabled_reason = 'by its owner'
from bench.sites s
where s.endpoint = e.id and s.number = 7;

insert into usage (team_id, period_start, submissions, deliveries, granted)
select
    u.team_id, billing_period(u.started_at, bench.now(), 0), bench.setting('items'), bench.setting('deliveries'),
    bench.setting('items')
from subscriptions u
join (select team_id from bench.sites limit 1) t on t.team_id = u.team_id
on conflict do nothing;

insert into queue.dead_jobs (
    id, queue, lane, grp, priority, attempt, max_attempts, created_at, died_at, cause, error, payload
)
select
    nextval(pg_get_serial_sequence('queue.jobs', 'id')), (array['analysis', 'images', 'rules', 'webhooks'])[1 + n % 4],
    case when n % 4 = 3 then s.endpoint else s.team_id end, s.team_id, 0, 5, 5, bench.now() - n * interval '20 minutes',
    bench.now() - n * interval '20 minutes' + interval '2 minutes',
    (array['exhausted', 'exhausted', 'aborted', 'worker_lost'])[1 + n % 4],
    (array['the provider did not answer within 10 s', 'the server answered 503', 'out of memory', 'the worker was lost'])[1 + n % 4]
    || ' (' || n % 15 || ')',
    json_build_object('media', gen_random_uuid())
from generate_series(1, 500) n
join bench.sites s on s.number = n % 20;

insert into providers (name, kind, categories, position)
values
    ('builtin', 'builtin', '{adult,violence,hate,self_harm}', 1),
    ('first', 'openai', '{adult,violence,hate,self_harm,harassment,sexual_minors,illicit}', 2),
    ('second', 'openai', '{spam,adult}', 3)
on conflict do nothing;
