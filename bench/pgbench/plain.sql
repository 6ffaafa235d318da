-- What a plain implementation does for one submission: five statements in one transaction, on Gatehouse's own tables, with
-- rows of the same size. It counts no rate and no quota and knows no repetitions. Run by `gatehouse-bench submit` with
-- -M prepared and the variables sites (how many), body and item (0), after filling the table plain_sites: a number from 0
-- and the hash of a site's key.
--
-- Ids ascend for each client, as version-7 UUIDs do, so that the indexes grow at their ends as Gatehouse's do. One id
-- serves all three rows, and is the application's own as well.
\set item :item + 1
\set number :client_id * 1000000000000 + :item
\set site random(0, :sites - 1)
begin;
select
    s.id as site_id,
    s.team_id,
    array[g.live_version_id] as group_versions,
    (select e.id from webhook_endpoints e where e.site_id = s.id and e.disabled_at is null limit 1) as endpoint_id,
    ('00000000-0000-7000-8000-' || lpad(to_hex(:number::bigint), 12, '0'))::uuid as new_id
from plain_sites p
join site_keys k on k.hash = p.key_hash
join sites s on s.id = k.site_id
join rule_groups g on g.id = s.default_rule_group_id
where p.number = :site and k.disabled_at is null \gset
insert into media (id, team_id, site_id, content_type, app_media_id, body, group_versions)
values (:new_id, :team_id, :site_id, 'text', :new_id, :body, :group_versions);
insert into queue.jobs (queue, lane, payload, max_attempts)
values ('analysis', :team_id, ('{"media":"' || :new_id || '"}')::json, 5);
insert into events (id, media_id, site_id, kind)
values (:new_id, :new_id, :site_id, 'media.created');
insert into deliveries (id, event_id, endpoint_id)
values (:new_id, :new_id, :endpoint_id);
commit;
