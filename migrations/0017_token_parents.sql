-- Who created a token, so that those that it created can be disabled with it.
alter table management_tokens
-- The token that created it.
add column created_by uuid references management_tokens (id),
-- How it was created. Null: by a version that did not write it down, so its creator is unknown.
add column creator text
constraint management_tokens_creator_check check (creator in ('token', 'command_line')),
-- How many tokens stand above it, one created by the other. The bound keeps a walk over them short.
add column generation smallint not null default 0
constraint management_tokens_generation_check check (generation between 0 and 100),
add constraint management_tokens_created_by_check check (created_by is null or (creator = 'token' and created_by <> id));

create index management_tokens_created_by_idx on management_tokens (created_by) where created_by is not null;
