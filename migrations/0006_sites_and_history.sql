-- Sites are changed through the management interface, and items are shown with their history.

-- A statement that sets all settings of a site changes few of them: a revision that rose for nothing would have
-- submissions prepared again for nothing.
create or replace trigger sites_bump_own_revision
before update of default_rule_group_id on sites
for each row
when (old.default_rule_group_id is distinct from new.default_rule_group_id)
execute function bump_own_revision();

create index site_keys_site_id_idx on site_keys (site_id, id);

-- An item's events and their deliveries, for people. Ids grow with time, and so do the tables: this costs submissions
-- next to nothing, and finds an item's rows by looking through a few thousand. Several ranges of ids a block: a person's
-- decision adds an event to an old item.
create index events_media_id_idx on events using brin (media_id uuid_minmax_multi_ops) with (autosummarize = on);
create index deliveries_event_id_idx on deliveries using brin (event_id uuid_minmax_multi_ops)
with (autosummarize = on);
