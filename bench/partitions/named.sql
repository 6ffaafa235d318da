-- An item by the application's own name, as `crates/store/src/media/list/walks.rs` finds it: no time is known, so no partition can be left out.
\set number random(0, 999)
select a.sites[1] as site, m.app_media_id as name
from asked a join plain.media m on m.id = a.ids[1]
where a.kind = 'spread' and a.size = 1 and a.number = :number \gset
select m.id
from (
    select n.id, n.status, n.created_at, n.author
    from media n
    where
        n.site_id = :site::uuid
        and hashtextextended(n.app_media_id, 0) = hashtextextended(:name::text, 0)
        and n.app_media_id = :name::text
    offset 0
) m
order by m.id desc
limit 51;
