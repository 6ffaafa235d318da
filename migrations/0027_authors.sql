-- no-transaction
-- The author of an item, so that moderators find what somebody else wrote: a value of its metadata. Where it is, says the site.
-- A change counts for items that are accepted afterwards.
--
-- Two transactions, so that the columns' short lock does not wait for the index. If the second one fails, all of this runs again,
-- so every statement can run twice.

begin;

alter table sites
-- A JSON pointer (RFC 6901); none: its items have no author.
add column if not exists author_pointer text;

alter table sites
drop constraint if exists sites_author_pointer_check,
add constraint sites_author_pointer_check check (char_length(author_pointer) <= 200 and author_pointer like '/%');

-- Submissions take the pointer from a cache, for one revision.
create or replace trigger sites_bump_own_revision
before update of default_rule_group_id, author_pointer on sites
for each row
when (
    old.default_rule_group_id is distinct from new.default_rule_group_id
    or old.author_pointer is distinct from new.author_pointer
)
execute function bump_own_revision();

alter table media
-- At most 200 characters. The service checks it: a constraint would have all rows read.
add column if not exists author text;

commit;

begin;

-- Submissions wait while it is built, as long as it takes to read the table once. It has no entries then. Later, it costs
-- submissions with an author one entry, and others nothing. An author can have any number of items, so they are in order.
create index if not exists media_author_idx on media (site_id, hashtextextended(author, 0), id)
where author is not null;

commit;
