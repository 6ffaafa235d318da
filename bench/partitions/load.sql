-- Items to judge, as `crates/store/src/verdict.rs` loads them: a batch by `= any`.
\set number random(0, 999)
select ids from asked where kind = :kind and size = :size and number = :number \gset
select
    m.id, m.team_id, m.traceparent, m.body, m.content_type, m.group_versions,
    array(
        select g.shadow_version_id
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        where v.id = any(m.group_versions) and g.shadow_version_id <> v.id
    ),
    s.on_failure, (extract(epoch from clock_timestamp() - m.created_at) * 1000)::bigint,
    a.scores, a.image_scored, a.unchecked, a.gaps,
    (select i.problem from media_images i where i.media_id = m.id)
from media m
join sites s on s.id = m.site_id
left join analyses a on a.media_id = m.id
where m.id = any(:ids::uuid []) and (m.status = 'pending' or true);
