-- What operators see of teams in Grafana (dashboards/tenants.json): who has the most work, and what fails at whom. Labels of metrics
-- never name a team, so these views do. They show no content, keys, secrets, addresses or URLs, and they are all that the role
-- gatehouse_ops can read.

create schema ops;

comment on schema ops is 'views for dashboards of operators: see docs/dashboards.md';

-- The jobs that wait for each team. It takes time in proportion to the due and running jobs.
create view ops.due_jobs with (security_barrier) as
select
    coalesce(t.name, 'all teams') as team,
    j.grp as team_id,
    j.queue,
    sum(j.due)::bigint as due,
    sum(j.running)::bigint as running,
    min(j.oldest) as oldest_due
from (
    -- Each half reads its own partial index.
    select d.queue, d.grp, count(*) as due, 0 as running, min(d.run_at) as oldest
    from queue.jobs d
    where d.state = 0
    group by d.queue, d.grp
    union all
    select r.queue, r.grp, 0, count(*), null
    from queue.jobs r
    where r.state = 1
    group by r.queue, r.grp
) j
left join teams t on t.id = j.grp
group by t.name, j.grp, j.queue;

-- What teams submitted in the hour that has begun, and in the last 24 hours with it.
create view ops.submissions with (security_barrier) as
select
    t.name as team,
    t.id as team_id,
    coalesce(sum(h.accepted) filter (where h.hour = date_trunc('hour', now(), 'UTC')), 0)::bigint as this_hour,
    sum(h.accepted)::bigint as last_day
from statistics_hours h
join teams t on t.id = h.subject_id
where h.hour > now() - interval '24 hours'
group by t.id;

-- What teams have used of their plan in the present billing period.
create view ops.quotas with (security_barrier) as
select
    t.name as team,
    t.id as team_id,
    p.name as plan,
    s.state,
    coalesce(u.submissions, 0) as submissions,
    p.submissions_per_period as quota,
    coalesce(u.submissions, 0) / nullif(p.submissions_per_period, 0)::float8 as used,
    coalesce(u.deliveries, 0) as deliveries,
    p.deliveries_per_period as delivery_quota,
    coalesce(u.deliveries, 0) / nullif(p.deliveries_per_period, 0)::float8 as delivery_used,
    b.period_start,
    billing_period(s.started_at, now(), 1) as period_end
from subscriptions s
join teams t on t.id = s.team_id
join plans p on p.id = s.plan_id
cross join lateral (select billing_period(s.started_at, now()) as period_start) b
left join usage u on u.team_id = s.team_id and u.period_start = b.period_start;

-- The items that wait for people.
create view ops.reviews with (security_barrier) as
select
    t.name as team,
    t.id as team_id,
    r.waiting,
    r.oldest
from (
    select w.team_id, count(*) as waiting, min(w.waiting_since) as oldest
    from reviews w
    group by w.team_id
) r
join teams t on t.id = r.team_id;

-- The endpoints that get no webhooks, or that failed at the last attempt. The reason is one of the service's own sentences.
create view ops.endpoint_troubles with (security_barrier) as
select
    t.name as team,
    t.id as team_id,
    e.site_id,
    e.id as endpoint_id,
    case
        when e.disabled_at is not null then 'disabled'
        when s.open_until > now() then 'open'
        else 'failing'
    end as state,
    coalesce(e.disabled_at, s.failing_since) as since,
    coalesce(s.failures, 0) as failures,
    e.disabled_reason as reason
from webhook_endpoints e
join sites i on i.id = e.site_id
join teams t on t.id = i.team_id
left join webhook_endpoint_states s on s.endpoint_id = e.id
where e.deleted_at is null and (e.disabled_at is not null or s.failing_since is not null or s.open_until > now());

-- An error without what may come from a tenant: addresses and URLs, what is quoted, words with digits (except numbers of up to three
-- digits, which are mostly statuses) and long words become an ellipsis. Such errors can be counted by their text.
create function ops.without_values(error text) returns text
language sql immutable parallel safe
return left(
    regexp_replace(
        regexp_replace(
            regexp_replace(left(error, 400), '"[^"]*("|$)|`[^`]*(`|$)|(^|\s)''[^'']*(''|$)', ' … ', 'g'),
            '\S*(://|@|www\.)\S*|(^|\s)(?!\d{1,3}[,.;:)]*(\s|$))\S*\d\S*|\S{25,}', ' … ', 'g'
        ),
        '\s+', ' ', 'g'
    ),
    160
);

-- Why jobs died: of the ten thousand that died last, so that a million of them cost no more.
create view ops.dead_jobs with (security_barrier) as
select
    d.queue,
    d.cause,
    ops.without_values(d.error) as error,
    count(*) as dead,
    count(distinct d.grp) as teams,
    max(d.died_at) as last_died
from (
    select j.queue, j.cause, j.error, j.grp, j.died_at
    from queue.dead_jobs j
    order by j.died_at desc, j.id desc
    limit 10000
) d
group by d.queue, d.cause, ops.without_values(d.error);

-- The role belongs to the whole cluster, and other databases of it may create it at this moment. Without the right to create roles,
-- the migration does without it: docs/dashboards.md says what to run later.
do $$
begin
    if not exists (select from pg_roles where rolname = 'gatehouse_ops') then
        create role gatehouse_ops nologin connection limit 5;
        alter role gatehouse_ops set default_transaction_read_only = on;
        alter role gatehouse_ops set statement_timeout = '5s';
        alter role gatehouse_ops set idle_in_transaction_session_timeout = '10s';
    end if;
exception
    when duplicate_object or unique_violation then
        null;
    when insufficient_privilege then
        raise notice 'the role gatehouse_ops was not created: %', sqlerrm;
end
$$;

do $$
begin
    if exists (select from pg_roles where rolname = 'gatehouse_ops') then
        grant usage on schema ops to gatehouse_ops;
        grant select on all tables in schema ops to gatehouse_ops;
        grant execute on function ops.without_values (text) to gatehouse_ops;
    end if;
end
$$;
