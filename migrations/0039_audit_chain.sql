-- no-transaction
-- The chains of the audit log (docs/audit-log.md). API processes give each row of audit_log the next number of its team's chain, and a
-- hash of the row and the previous hash, soon after it was written. Writers know nothing of it, and older ones neither.
--
-- Two transactions, so that writers do not wait while the constraint is checked. If the second one fails, all of this runs again, so
-- every statement can run twice. Two indexes are created after the migrations (store/src/schema/indexes.rs).

begin;

-- Where each chain begins and ends now.
create table if not exists audit_chains (
    -- The team; the nil UUID for the rows without a team.
    chain uuid primary key,
    -- The number and the hash of the last row. Before the first row: 0 and 32 zeros.
    head_number bigint not null default 0,
    head_hash bytea not null default decode(repeat('00', 32), 'hex')
    constraint audit_chains_head_hash_check check (octet_length(head_hash) = 32),
    -- The number and the hash of the last row that retention removed.
    start_number bigint not null default 0,
    start_hash bytea not null default decode(repeat('00', 32), 'hex')
    constraint audit_chains_start_hash_check check (octet_length(start_hash) = 32),
    -- When rows were sealed for the last time.
    sealed_at timestamptz not null default now(),
    constraint audit_chains_start_number_check check (0 <= start_number and start_number <= head_number)
)
-- Room for updates in place.
with (fillfactor = 50);

alter table audit_log
-- Its place in its chain, from 1. Null: not sealed yet.
add column if not exists chain_number bigint,
-- SHA-256 of the previous hash and of every column of the row.
add column if not exists chain_hash bytea,
drop constraint if exists audit_log_chain_check,
add constraint audit_log_chain_check
check ((chain_number is null) = (chain_hash is null) and octet_length(chain_hash) = 32) not valid,
-- Times that every program can read.
drop constraint if exists audit_log_occurred_at_check,
add constraint audit_log_occurred_at_check
check (occurred_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00') not valid;

-- Sealing writes each row once more. Entries of rows that are sealed should not stay for long in the index of those that are not.
alter table audit_log set (autovacuum_vacuum_scale_factor = 0.02);

-- The log is only added to. What changes nothing but number and hash of a row without them is sealing. What deletes a row up to the
-- beginning of its chain is retention, which has moved that beginning before.
create or replace function guard_audit_log() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and tg_level = 'ROW' then
        perform from audit_chains c
        where
            c.chain = coalesce(old.team_id, '00000000-0000-0000-0000-000000000000')
            and old.chain_number <= c.start_number;
        if found then
            return old;
        end if;
    end if;
    raise exception '%', case
        when tg_op = 'INSERT' then 'rows of the audit log get their numbers when they are sealed'
        else format('%s of %s is refused: the audit log is only added to', lower(tg_op), tg_table_name)
    end
    using
        errcode = 'restrict_violation',
        hint = 'To remove old rows of the audit log, set GATEHOUSE_AUDIT_RETENTION_DAYS.';
end
$$;

create or replace trigger audit_log_refuse_change_of_sealed
before update on audit_log
for each row when (old.chain_number is not null) execute function guard_audit_log();

create or replace trigger audit_log_refuse_change
before update of
    id, team_id, actor, actor_id, action, target_id, details, request_id, trace_id, occurred_at
on audit_log
for each row execute function guard_audit_log();

create or replace trigger audit_log_refuse_own_number
before insert on audit_log
for each row when (new.chain_number is not null) execute function guard_audit_log();

create or replace trigger audit_log_refuse_delete
before delete on audit_log
for each row execute function guard_audit_log();

create or replace trigger audit_log_refuse_truncate
before truncate on audit_log
for each statement execute function guard_audit_log();

create or replace trigger audit_chains_refuse_return
before update on audit_chains
for each row when (
    new.chain <> old.chain or new.head_number < old.head_number or new.start_number < old.start_number
) execute function guard_audit_log();

create or replace trigger audit_chains_refuse_removal
before delete or truncate on audit_chains
for each statement execute function guard_audit_log();

commit;

begin;

alter table audit_log
validate constraint audit_log_chain_check,
validate constraint audit_log_occurred_at_check;

commit;
