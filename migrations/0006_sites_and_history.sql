-- Sites are changed through the management interface, and items are shown with their history.

-- What a submission depends on: its judges, and how many there may be in a minute. As a condition rather than a list of
-- columns, because a statement that sets all of them changes few.
create or replace trigger sites_bump_own_revision
before update on sites
for each row
when (
    old.default_rule_group_id is distinct from new.default_rule_group_id
    or old.submissions_per_minute is distinct from new.submissions_per_minute
    or old.status_queries_per_minute is distinct from new.status_queries_per_minute
)
execute function bump_own_revision();

create index site_keys_site_id_idx on site_keys (site_id, id);

-- An item's events and their deliveries, for people. Ids grow with time, and so do the tables: this costs submissions
-- next to nothing, and finds an item's rows by looking through a few thousand. Several ranges of ids a block: a person's
-- decision adds an event to an old item.
create index events_media_id_idx on events using brin (media_id uuid_minmax_multi_ops) with (autosummarize = on);
create index deliveries_event_id_idx on deliveries using brin (event_id uuid_minmax_multi_ops)
with (autosummarize = on);
