-- Hash lists with their entries, imports and scans.

create table bench.lists as
select
    n as number, bench.list_id(n) as id,
    case when n < 4 then t.team_id end as team,
    ceil(bench.setting('hashes') * (array[0.6, 0.38, 0.01, 0.01])[n])::integer as entries
from generate_series(1, 4) n
cross join (select team_id from bench.sites limit 1) t;

insert into hash_lists (id, team_id, name, description, kind, max_distance, revision, entries, created_at)
select id, team, 'List ' || number, 'Known pictures', 'deny', 31, entries, entries, bench.now() - interval '100 days'
from bench.lists;

insert into hash_entries (list_id, id, sha256, pdq, note, revision, added_at)
select
    l.id, bench.id_at(bench.now() - interval '100 days' * (1 - n::float8 / l.entries), 'entry ' || n),
    case when n % 2 = 0 then sha256(('sha ' || l.number || ' ' || n)::bytea) end, sha256(('pdq ' || l.number || ' ' || n)::bytea),
    'case ' || n, n, bench.now() - interval '100 days' * (1 - n::float8 / l.entries)
from bench.lists l
cross join lateral generate_series(1, l.entries) n
order by l.number, n;

insert into hash_imports (
    id, list_id, team_id, algorithm, total_lines, chunks, state, next_chunk, lines, added, existing, refused, created_at, ended_at
)
select
    bench.id_at(bench.now() - n * interval '1 day', 'import ' || n), l.id, l.team, 'pdq', 12000, 2, 'finished', 2, 12000, 10000, 1000,
    1000, bench.now() - n * interval '1 day', bench.now() - n * interval '1 day' + interval '1 minute'
from bench.lists l, generate_series(1, 60) n
where l.number = 1;

insert into hash_import_refusals (import_id, line, reason)
select i.id, 12 * n, 'a PDQ has 64 hexadecimal digits'
from hash_imports i, generate_series(1, 1000) n;

insert into hash_scans (
    id, list_id, team_id, until, oldest, state, looked_at, matched, listed, created_at, ended_at
)
select
    bench.id_at(bench.now() - n * interval '1 day', 'scan ' || n), l.id, l.team, bench.now() - n * interval '1 day',
    bench.now() - interval '30 days', 'finished', 20000, 500, 500, bench.now() - n * interval '1 day',
    bench.now() - n * interval '1 day' + interval '1 minute'
from bench.lists l, generate_series(1, 60) n
where l.number = 1;

insert into hash_scan_matches (scan_id, media_id, entry_id, algorithm, distance)
select s.id, i.media_id, e.id, 'pdq', 7
from hash_scans s
cross join (select media_id, row_number() over () as n from media_images limit 500) i
join (
    select e.id, row_number() over () as n from hash_entries e join bench.lists l on l.id = e.list_id where l.number = 1 limit 500
) e on e.n = i.n;

insert into image_matches (media_id, list_id, kind, entry_id, algorithm, distance)
select i.media_id, e.list_id, 'deny', e.id, 'pdq', 7
from (select media_id, row_number() over () as n from media_images) i
join (select e.*, row_number() over () as n from hash_entries e join bench.lists l on l.id = e.list_id where l.number = 1 limit 5000) e
    on e.n = i.n;
