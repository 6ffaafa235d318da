-- What the other files of this directory share. They run in the order of `bench/src/pages/sample_data.rs`, with these settings:
-- bench.now, bench.items, bench.deliveries, bench.versions, bench.people, bench.audit, bench.hashes, bench.teams.
-- The schema is dropped at the end.

create schema bench;

create function bench.setting(name text) returns integer language sql stable
return current_setting('bench.' || name)::integer;

-- The moment at which the history ends.
create function bench.now() returns timestamptz language sql stable
return current_setting('bench.now')::timestamptz;

-- A UUIDv7 of this time.
create function bench.id_at(at timestamptz, what text) returns uuid language sql immutable
return (
    lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
    || '7' || substr(md5(what), 1, 3) || '8' || substr(md5(what), 4, 15)
)::uuid;

-- The event of an item's acceptance (`EventId::of_acceptance`).
create function bench.acceptance_of(media uuid) returns uuid language plpgsql immutable as $$
declare
    hash bytea := sha256(uuid_send(media) || 'media.created');
begin
    return encode(
        substr(uuid_send(media), 1, 6)
        || substr(set_byte(set_byte(hash, 6, get_byte(hash, 6) & 15 | 112), 8, get_byte(hash, 8) & 63 | 128), 7, 10),
        'hex'
    )::uuid;
end
$$;

-- A hash list of the team. Rules name it before it is there.
create function bench.list_id(number integer) returns uuid language sql stable
return bench.id_at(bench.now() - interval '100 days', 'list ' || number);

-- The team's sites. The last one has no items.
create table bench.sites as
select
    row_number() over (order by s.id) - 1 as number, s.id, s.team_id,
    (select e.id from webhook_endpoints e where e.site_id = s.id limit 1) as endpoint
from sites s;

-- What items say, and what became of them. Filled by the program, which judges each text with the real rules.
create table bench.kinds (
    number integer primary key,
    -- Of a thousand items. None: only one item in the whole history is of this kind.
    share integer not null,
    body text not null,
    scores json not null,
    status text not null,
    moderation_type text not null,
    details json not null,
    -- With a nil UUID in place of the version that judged.
    trace text not null
);

update sites set author_pointer = '/author';
