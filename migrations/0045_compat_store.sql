-- Items that are judged for one answer only, and not kept: those of the endpoints for clients of other services, if their site wants
-- it so.

alter table sites
-- Whether these endpoints keep items.
add column compat_store boolean not null default true;

-- Submissions take these settings from a cache, for one revision.
create trigger sites_bump_revision_when_answers
before update of compat_store, status_vocabulary on sites
for each row
when (
    old.compat_store is distinct from new.compat_store
    or old.status_vocabulary is distinct from new.status_vocabulary
)
execute function bump_own_revision();

alter table media
-- True: nobody is told of the item, no person sees it, and it is removed soon after its verdict. Null: it is kept.
add column is_transient boolean;
