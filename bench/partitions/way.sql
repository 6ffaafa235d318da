-- The way of new items: stored, judged, decided, as `crates/store/src/accept/insert.rs`, `crates/store/src/verdict.rs` and `verdict/insert.rs` do
-- with the three tables. Their other tables are the same on both sides, and left out.
\set first random(0, 9999)
select
    array_agg(new_id(clock_timestamp())) as ids, array_agg(s.id) as sites, array_agg(s.team_id) as teams,
    array_agg(md5(random()::text)) as names
from generate_series(1, :size) n
join site_list s on s.number = (:first + n * 17) % 100 \gset
insert into media (id, team_id, site_id, content_type, app_media_id, body, metadata, group_versions, author, traceparent)
select
    i.id, i.team_id, i.site_id, 'text', i.name, 'a comment of a user, not long ' || i.name, '{"listing":1}'::json, array[i.team_id],
    'author-' || left(i.name, 4), null
from unnest(:ids::uuid [], :teams::uuid [], :sites::uuid [], :names::text []) as i (id, team_id, site_id, name);
select m.id, m.team_id, m.body, m.content_type, m.group_versions, s.on_failure, a.scores, a.unchecked
from media m
join sites s on s.id = m.site_id
left join analyses a on a.media_id = m.id
where m.id = any(:ids::uuid []) and (m.status = 'pending' or false);
with input as materialized (
    select i.media_id, 1::smallint as number, 'pending' as previous_status, 'approved' as status
    from unnest(:ids::uuid []) as i (media_id)
),
concluded as materialized (
    update media m
    set status = i.status, verdict = i.number
    from input i
    where m.id = i.media_id and m.status = i.previous_status and coalesce(m.verdict, 0) = i.number - 1
    returning m.id, m.team_id, m.site_id, m.created_at, i.*, clock_timestamp() as moderated_at
),
new_analyses as (
    insert into analyses (media_id, scores, image_scored, providers, unchecked)
    select
        id, '{"hate":0.01,"spam":0.02}'::json, null::boolean,
        '[{"provider":"builtin","modality":"text","scores":{"hate":0.01,"spam":0.02},"elapsed_ms":1}]'::json, '[]'::json
    from concluded
    on conflict on constraint analyses_pkey do nothing
),
new_verdicts as (
    insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
    select
        id, number, status, previous_status, 'ai', '{"rule_violations":[],"reason":"No rule matched."}'::json, '{"elapsed_us":9}'::json,
        moderated_at
    from concluded
)
select id, team_id, number, status, moderated_at from concluded order by id;
