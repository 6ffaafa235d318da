-- The same tables twice: `plain` as the service has them, and `parted`, divided by day into range partitions of their ids, which
-- begin with the time. Both have the indexes and triggers of the migrations. Run by `scripts/bench-partitions`, with the variable
-- days: how many days are kept, today included.
\set ON_ERROR_STOP on

create schema plain;
create schema parted;

-- The smallest id of version 7 of a time, and one with random bits.
create function public.id_at(at timestamptz) returns uuid language sql immutable parallel safe as $$
    select rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;
create function public.new_id(at timestamptz) returns uuid language sql volatile parallel safe as $$
    select overlay(
        overlay(replace(gen_random_uuid()::text, '-', '') placing lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') from 1)
        placing '7' from 13
    )::uuid
$$;

-- The day that counts as today. Days count from here.
create table public.today as select (now() at time zone 'utc')::date as day;

create table plain.media (like public.media including all) with (fillfactor = 85);
create table plain.verdicts (like public.verdicts including all);
create table plain.analyses (like public.analyses including all);

create table parted.media (like public.media including all excluding indexes) partition by range (id);
create table parted.verdicts (like public.verdicts including all excluding indexes) partition by range (media_id);
create table parted.analyses (like public.analyses including all excluding indexes) partition by range (media_id);

alter table parted.media add constraint media_pkey primary key (id);
create index media_site_id_idx on parted.media (site_id, id);
create index media_app_media_id_idx on parted.media (site_id, hashtextextended(app_media_id, 0)) where app_media_id is not null;
create index media_author_idx on parted.media (site_id, hashtextextended(author, 0), id) where author is not null;
create index media_stored_by_idx on parted.media (stored_by) where stored_by is not null;
alter table parted.verdicts add constraint verdicts_pkey primary key (media_id, number);
create index verdicts_stored_by_idx on parted.verdicts (stored_by) where stored_by is not null;
alter table parted.analyses add constraint analyses_pkey primary key (media_id);

create trigger media_forget_answers after update of body on plain.media
for each row when (new.body is distinct from old.body) execute function forget_answers();
create trigger media_forget_answers_of_deleted after delete on plain.media
referencing old table as deleted for each statement execute function forget_answers_of_deleted();
create trigger media_forget_answers after update of body on parted.media
for each row when (new.body is distinct from old.body) execute function forget_answers();
create trigger media_forget_answers_of_deleted after delete on parted.media
referencing old table as deleted for each statement execute function forget_answers_of_deleted();

-- Makes the partitions of a day.
create function public.add_day(number integer) returns void language plpgsql as $$
declare
    name text := to_char((select day from today) + number, 'YYYYMMDD');
    bounds text := format(
        'for values from (%L) to (%L)',
        id_at(((select day from today) + number)::timestamp at time zone 'utc'),
        id_at(((select day from today) + number + 1)::timestamp at time zone 'utc')
    );
begin
    execute format('create table parted.media_%s partition of parted.media %s with (fillfactor = 85)', name, bounds);
    execute format('create table parted.verdicts_%s partition of parted.verdicts %s', name, bounds);
    execute format('create table parted.analyses_%s partition of parted.analyses %s', name, bounds);
end
$$;

select add_day(number) from generate_series(1 - :days, 0) number;

-- A hundred sites of ten teams. The first ones have the most items.
begin;
set constraints all deferred;
insert into teams (id, name)
select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Team ' || n from generate_series(1, 10) n;
with versions as (
    insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai) select id, id, 1, '[]', false from teams
),
groups as (
    insert into rule_groups (id, team_id, name, live_version_id) select id, id, '', id from teams
)
insert into sites (id, team_id, name, default_rule_group_id, webhook_secret, item_retention_days)
select ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, t.id, 'Site ' || n, t.id, '', :days - 1
from generate_series(1, 100) n
join (select id, row_number() over (order by id) as number from teams) t on t.number = 1 + n % 10;
insert into site_keys (id, site_id, hash, hint) select id, id, sha256(uuid_send(id)), '' from sites;
commit;

create table public.site_list as select row_number() over (order by id) - 1 as number, id, team_id from sites;
create unlogged table public.batch (n bigint, at timestamptz, id uuid, site uuid, team uuid);

-- Makes the items of a day.
create procedure public.make_day(number integer, items integer) language plpgsql as $$
begin
    truncate public.batch;
    insert into public.batch
    select d.n, d.at, new_id(d.at), s.id, s.team_id
    from (
        select
            (number::bigint + 1000) * 1000000 + n as n,
            ((select day from today) + number)::timestamp at time zone 'utc' + n * interval '1 day' / items as at,
            floor(100 * random() ^ 2) as site
        from generate_series(0, items - 1) n
    ) d
    join public.site_list s on s.number = d.site;
end
$$;

-- Stores them in a schema.
create procedure public.store_day(schema text) language plpgsql as $$
begin
    perform set_config('search_path', schema || ', public', true);
    insert into media (
        id, team_id, site_id, status, content_type, app_media_id, body, metadata, author, group_versions, verdict, created_at
    )
    select
        id, team, site, case when n % 20 = 0 then 'rejected' else 'approved' end, 'text', 'item-' || n,
        'a comment of a user, not long ' || md5(n::text), json_build_object('listing', n),
        case when n % 2 = 0 then 'author-' || (n * 7919 % 50000) end, array[team], 1, at
    from batch
    order by id;
    insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
    select
        id, 1, case when n % 20 = 0 then 'rejected' else 'approved' end, 'pending', 'ai',
        '{"rule_violations":[],"reason":"No rule matched."}', json_build_object('versions', array[team], 'elapsed_us', n % 1000),
        at + interval '50 ms'
    from batch
    order by id;
    insert into analyses (media_id, scores, providers, unchecked, created_at)
    select
        id, '{"hate":0.01,"spam":0.02}',
        '[{"provider":"builtin","modality":"text","scores":{"hate":0.01,"spam":0.02},"elapsed_ms":1}]', '[]', at
    from batch
    order by id;
end
$$;

-- Items that statements ask for: 1 or 16, of the last two days (`recent`) or of any day.
create table public.asked (
    kind text not null, size integer not null, number integer not null, ids uuid [] not null, hashes bytea [] not null,
    sites uuid [] not null, primary key (kind, size, number)
);
