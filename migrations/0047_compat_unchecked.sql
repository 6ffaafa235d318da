-- What clients of OpenAI get for content of which something could not be checked.

alter table sites
-- `flag`: the result is flagged, unless the site approved the item. `error`: the request ends with an error.
add column compat_unchecked text not null default 'flag' check (compat_unchecked in ('flag', 'error'));

-- Requests take this setting from a cache, for one revision.
create trigger sites_bump_revision_when_unchecked
before update of compat_unchecked on sites
for each row
when (old.compat_unchecked is distinct from new.compat_unchecked)
execute function bump_own_revision();
