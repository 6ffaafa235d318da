-- The newest items of four sites, as `crates/store/src/media/list.rs` finds and describes them.
\set number random(0, 999)
select sites from asked where kind = 'spread' and size = 16 and number = :number \gset
select array_agg(w.id) as found
from (
    select w.id, w.hit, w.last
    from unnest(:sites::uuid []) as s (id)
    cross join lateral (
        select
            m.id,
            (null::text is null or m.status = null::text) as hit,
            row_number() over (order by m.id desc) = 51 as last
        from media m
        where
            m.site_id = s.id and m.id >= '00000000-0000-0000-0000-000000000000'::uuid
            and m.id < 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
        order by m.id desc
        limit 51
    ) w
    where w.hit or w.last
    order by w.id desc
    limit 50
) w \gset
select
    m.id, m.site_id, s.name, m.app_media_id, m.author, m.content_type, left(m.body, 160), m.status, m.verdict, m.created_at,
    v.moderation_type, coalesce(v.trace #>> '{moderator,member_name}', v.trace #>> '{moderator,token_name}'), v.moderated_at
from media m
join sites s on s.id = m.site_id
left join verdicts v on v.media_id = m.id and v.number = m.verdict
where m.id = any(:found::uuid [])
order by m.id desc;
