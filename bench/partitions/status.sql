-- Status queries, as `crates/store/src/item_status.rs` asks.
\set number random(0, 999)
select ids, hashes from asked where kind = :kind and size = :size and number = :number \gset
select
    q.ordinal, s.status_vocabulary, m.id, m.app_media_id, s.id, m.content_type, m.status, v.moderation_type, m.created_at,
    v.moderated_at, v.details, m.metadata
from unnest(:hashes::bytea [], :ids::uuid []) with ordinality as q (hash, media_id, ordinal)
join site_keys k on k.hash = q.hash and k.disabled_at is null
join sites s on s.id = k.site_id
left join media m on m.id = q.media_id and m.site_id = s.id
left join verdicts v on v.media_id = m.id and v.number = m.verdict;
