-- What the other files of this directory share. They run in the order of `bench/src/life/fill.rs`, with these settings: bench.now,
-- bench.items, bench.days, bench.told_days, bench.waiting.

create schema bench;

create function bench.setting(name text) returns integer language sql stable
return current_setting('bench.' || name)::integer;

-- The moment at which the history ends.
create function bench.now() returns timestamptz language sql stable
return current_setting('bench.now')::timestamptz;

-- A UUIDv7 of this time.
create function bench.id_at(at timestamptz, what text) returns uuid language sql immutable
return overlay(
    md5(what) placing lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(what), 1, 3) || '8' from 1
)::uuid;

create table bench.sites as
select
    row_number() over (order by s.id) - 1 as number, s.id, s.team_id,
    (select e.id from webhook_endpoints e where e.site_id = s.id limit 1) as endpoint
from sites s;

-- What the service's own workers have judged.
create table bench.templates as
select
    row_number() over (partition by m.status = 'pending_review' order by m.id) - 1 as number, m.body, m.group_versions, m.status,
    v.moderation_type, v.details, v.trace, a.scores, a.providers, a.unchecked, a.image_scored
from media m
join verdicts v on v.media_id = m.id and v.number = 1
join analyses a on a.media_id = m.id
where m.status in ('approved', 'pending_review');

-- Statistics count transactions. Those of the fill have too many rows for one slice, so that none of them is counted.
update statistics_progress set ended_at = 'infinity';

-- Indexes whose entries do not ascend take most of the time. They are built at the end.
create table bench.indexes as
select indexname as name, indexdef as definition
from pg_indexes
where schemaname = 'public' and tablename in ('media', 'verdicts') and indexname !~ '_pkey$';

do $$
declare
    name text;
begin
    for name in select i.name from bench.indexes i loop
        execute format('drop index public.%I', name);
    end loop;
end
$$;
