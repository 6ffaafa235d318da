-- Chooses the items that statements ask for.
\set ON_ERROR_STOP on
truncate public.asked;
create unlogged table public.sampled as
select id, site_id, row_number() over () - 1 as place
from (select id, site_id from plain.media tablesample system (10) order by random() limit 16000) m;
create unlogged table public.sampled_recent as
select id, site_id, row_number() over (order by random()) - 1 as place
from (
    select id, site_id from plain.media
    where id >= public.id_at((select day - 2 from public.today)::timestamp at time zone 'utc')
) m
order by random()
limit 20000;
insert into public.asked
select k.kind, z.size, s.number, s.ids, s.hashes, (s.sites) [1:4]
from (values ('spread'), ('recent')) k (kind)
cross join (values (1), (16)) z (size)
cross join lateral (
    select
        p.place / z.size as number, array_agg(p.id) as ids, array_agg(sha256(uuid_send(p.site_id))) as hashes,
        array_agg(distinct p.site_id) as sites
    from (
        select * from public.sampled where k.kind = 'spread'
        union all
        select * from public.sampled_recent where k.kind = 'recent'
    ) p
    where p.place < 1000 * z.size
    group by p.place / z.size
) s;
drop table public.sampled, public.sampled_recent;
vacuum analyze public.asked;
select kind, size, count(*) from public.asked group by kind, size order by kind, size;
