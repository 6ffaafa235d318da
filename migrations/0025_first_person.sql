-- The first person: a link with which somebody becomes the first operator. It names nobody: whoever has it chooses the address.
alter table links
drop constraint links_kind_check;

alter table links
add constraint links_kind_check check (kind in ('invitation', 'reset', 'first'));
