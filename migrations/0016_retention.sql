-- Old versions of rule groups that nothing refers to are removed, and so are the details of old backtests.

alter table rule_group_versions
-- Whether it stays for ever: true once an item was found that is judged by it. Null: nobody has looked yet. Items never write
-- this; see store/src/rule_group/retention.rs.
add column kept boolean;

-- Publications are recorded since migration 0008, for each group from the version on that was live then. Versions before that
-- one were live, too, and nobody knows when: they stay.
update rule_group_versions v
set kept = true
where v.number < coalesce(
    (
        select f.number
        from rule_group_publications p
        join rule_group_versions f on f.id = p.version_id
        where p.rule_group_id = v.rule_group_id
        order by p.published_at
        limit 1
    ),
    2147483647
);

-- Versions to look at, the oldest first; and what a team has stored of late.
create index rule_group_versions_created_at_idx on rule_group_versions (created_at, id) where kept is null;

-- When each version was live, and what refers to it.
create index rule_group_publications_published_at_idx on rule_group_publications (rule_group_id, published_at);
create index rule_group_publications_version_id_idx on rule_group_publications (version_id);
create index rule_groups_live_version_id_idx on rule_groups (live_version_id);
create index rule_groups_shadow_version_id_idx on rule_groups (shadow_version_id) where shadow_version_id is not null;
create index backtests_version_id_idx on backtests (version_id) where version_id is not null;

alter table backtests
-- Whether its rules and the items that it lists are still there.
add column detailed boolean not null default true;

create index backtests_ended_at_idx on backtests (ended_at) where detailed;
create index backtests_team_id_idx on backtests (team_id, created_at);
