-- no-transaction
-- Who did something: the holder of a management token, a member of a team, or somebody at a command line. Records name an actor
-- now, so that members can be named by them, too. An older binary creates tokens only; a trigger makes them actors.
--
-- Two transactions, so that nobody waits for the scan of a table. If the second one fails, all of this runs again, so every statement
-- can run twice.

begin;

create table if not exists actors (
    -- A token's actor has the token's id.
    id uuid primary key,
    kind text not null
    constraint actors_kind_check check (kind in ('token', 'member', 'command_line')),
    -- The only team in which it acts; none: it acts in all.
    team_id uuid references teams (id),
    created_at timestamptz not null default now()
);

create or replace function add_token_as_actor() returns trigger language plpgsql as $$
begin
    insert into actors (id, kind, team_id, created_at) values (new.id, 'token', new.team_id, new.created_at);
    return null;
end
$$;

-- From here on, until the end of this transaction, tokens that are being created wait. So none is missed.
create or replace trigger management_tokens_add_actor
after insert on management_tokens
for each row execute function add_token_as_actor();

insert into actors (id, kind, team_id, created_at)
select id, 'token', team_id, created_at from management_tokens
on conflict (id) do nothing;

alter table rule_group_versions
drop constraint rule_group_versions_created_by_fkey,
add constraint rule_group_versions_created_by_fkey foreign key (created_by) references actors (id) not valid;

alter table rule_group_publications
drop constraint rule_group_publications_published_by_fkey,
add constraint rule_group_publications_published_by_fkey foreign key (published_by) references actors (id) not valid;

alter table backtests
drop constraint backtests_created_by_fkey,
add constraint backtests_created_by_fkey foreign key (created_by) references actors (id) not valid;

alter table hash_lists
drop constraint hash_lists_created_by_fkey,
add constraint hash_lists_created_by_fkey foreign key (created_by) references actors (id) not valid;

alter table hash_imports
drop constraint hash_imports_created_by_fkey,
add constraint hash_imports_created_by_fkey foreign key (created_by) references actors (id) not valid;

alter table hash_scans
drop constraint hash_scans_created_by_fkey,
add constraint hash_scans_created_by_fkey foreign key (created_by) references actors (id) not valid;

alter table webhook_recoveries
drop constraint webhook_recoveries_created_by_fkey,
add constraint webhook_recoveries_created_by_fkey foreign key (created_by) references actors (id) not valid;

-- A member may create tokens, too.
alter table management_tokens
drop constraint management_tokens_created_by_fkey,
add constraint management_tokens_created_by_fkey foreign key (created_by) references actors (id) not valid,
drop constraint management_tokens_creator_check,
add constraint management_tokens_creator_check check (creator in ('token', 'member', 'command_line')) not valid,
drop constraint management_tokens_created_by_check,
add constraint management_tokens_created_by_check
check (created_by is null or (creator in ('token', 'member') and created_by <> id)) not valid;

alter table audit_log
drop constraint audit_log_actor_check,
add constraint audit_log_actor_check check (actor in ('token', 'member', 'command_line')) not valid,
drop constraint audit_log_actor_id_check,
add constraint audit_log_actor_id_check check ((actor_id is not null) = (actor in ('token', 'member'))) not valid;

commit;

begin;

alter table rule_group_versions validate constraint rule_group_versions_created_by_fkey;
alter table rule_group_publications validate constraint rule_group_publications_published_by_fkey;
alter table backtests validate constraint backtests_created_by_fkey;
alter table hash_lists validate constraint hash_lists_created_by_fkey;
alter table hash_imports validate constraint hash_imports_created_by_fkey;
alter table hash_scans validate constraint hash_scans_created_by_fkey;
alter table webhook_recoveries validate constraint webhook_recoveries_created_by_fkey;

alter table management_tokens
validate constraint management_tokens_created_by_fkey,
validate constraint management_tokens_creator_check,
validate constraint management_tokens_created_by_check;

alter table audit_log
validate constraint audit_log_actor_check,
validate constraint audit_log_actor_id_check;

commit;
