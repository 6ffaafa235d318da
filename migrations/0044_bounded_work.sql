-- Erasures and retention do a bounded amount of work at a time, and one process removes what has expired.

alter table erasures
-- When the first phase ended. Events of the items are not older than that. Null: it did not end, or an older binary ended it.
add column settled_at timestamptz,
-- The second phase looks for events of the items. It has looked at those of sites with smaller ids than this one,
add column events_site uuid,
-- and at the events of this site with smaller ids. Null with events_site: it has not begun.
add column events_to uuid,
add constraint erasures_events_check check ((events_site is null) = (events_to is null));

alter table retention_walks
drop constraint retention_walks_kind_check,
-- Files of images are looked at as events are: again from the beginning when the end was reached. Images without an item are looked
-- for once, in the order of ids over all sites, so that the site is the nil UUID.
add constraint retention_walks_kind_check check (kind in ('items', 'contents', 'events', 'files', 'orphans'));

-- Which process removes what has expired. There is one row at most. Older binaries do not look at it: each of them removes as well.
create table retention_turns (
    singleton boolean primary key default true
    constraint retention_turns_singleton_check check (singleton),
    -- A random id that a process has until it ends.
    holder uuid not null,
    -- The holder renews this while it lives. Afterwards another process takes the turn.
    expires_at timestamptz not null,
    -- When to begin the next time.
    next_at timestamptz not null
)
-- Room for updates in place.
with (fillfactor = 50);
