-- no-transaction
-- Statistics: what happened at each site, team and in the whole installation, by hour. A chain of jobs adds them up
-- (store/src/statistics.rs). Rows that are only ever added get the id of the transaction that stored them: by it, each row is
-- counted exactly once, however late its transaction commits.
--
-- A new column without a default and a default for later rows change no stored row. Each table has a transaction of its own, so
-- that nobody waits for two locks. If one fails, all of this runs again, so every statement can run twice. The indexes on
-- stored_by are created by store/src/schema/indexes.rs, which blocks no writer.

begin;

create table if not exists statistics_progress (
    id uuid primary key,
    state text not null default 'finished'
    constraint statistics_progress_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- Counts the slices: the place of the chain.
    steps bigint not null default 0,
    -- All rows of transactions before this one are counted, except those of the unfinished ones.
    counted_to xid8 not null default '3',
    -- Transactions before counted_to that were still open when their turn came, and the time before which they stored nothing.
    unfinished xid8 [] not null default '{}',
    unfinished_since timestamptz [] not null default '{}',
    -- When all that had been committed was counted, except what is unfinished.
    reached_at timestamptz not null default now(),
    -- Older rows are not counted by their transaction. Set when the numbers of transactions went back, as they do when a database is
    -- restored from a dump.
    rows_since timestamptz,
    begun_at timestamptz,
    ended_at timestamptz default now(),
    error text
);

insert into statistics_progress (id) values ('00000000-0000-0000-0000-000000000000') on conflict (id) do nothing;

-- What is left of the rows from before this migration: their stored_by is null. A finished source has no row.
create table if not exists statistics_backfill (
    source text primary key
    constraint statistics_backfill_source_check check (source in ('media', 'verdicts', 'delivery_attempts')),
    -- Counted are the rows up to this id,
    walked_to uuid not null default '00000000-0000-0000-0000-000000000000',
    -- and the last one has this id.
    until uuid not null
);

-- The figures of an hour that begins at `hour`. `subject_id` is a site, a team, or the nil UUID for the whole installation.
create table if not exists statistics_hours (
    subject_id uuid not null,
    hour timestamptz not null,
    accepted bigint not null,
    rule_approved bigint not null,
    rule_rejected bigint not null,
    rule_pending_review bigint not null,
    ai_approved bigint not null,
    ai_rejected bigint not null,
    ai_pending_review bigint not null,
    manual_approved bigint not null,
    manual_rejected bigint not null,
    -- The site's on_failure decided, or the rules could not be evaluated.
    failure_approved bigint not null,
    failure_rejected bigint not null,
    failure_pending_review bigint not null,
    -- Items that waited for a person and were decided, and the milliseconds that they waited in all.
    reviews_decided bigint not null,
    reviews_waited_ms bigint not null,
    delivered bigint not null,
    failed_attempts bigint not null,
    exhausted bigint not null,
    discarded bigint not null,
    primary key (subject_id, hour)
)
-- The present hour is rewritten in place again and again.
with (fillfactor = 70);

create index if not exists statistics_hours_hour_idx on statistics_hours using brin (hour);

-- How often a rule matched on a day (UTC), by site and by team: 200 rules each at most, and all others together under nil UUIDs.
create table if not exists statistics_rules (
    subject_id uuid not null,
    day date not null,
    rule_group_id uuid not null,
    rule_id uuid not null,
    -- Its name when it matched last; none for the others.
    name text,
    matches bigint not null,
    primary key (subject_id, day, rule_group_id, rule_id)
)
with (fillfactor = 70);

create index if not exists statistics_rules_day_idx on statistics_rules using brin (day);

-- Deliveries that were given up. Rows are deleted when they are counted.
create table if not exists statistics_given_up (
    id bigint generated always as identity primary key,
    endpoint_id uuid not null,
    state text not null,
    ended_at timestamptz not null
);

create or replace function add_given_up_delivery() returns trigger language plpgsql as $$
begin
    insert into statistics_given_up (endpoint_id, state, ended_at)
    values (new.endpoint_id, new.state, coalesce(new.ended_at, now()));
    return null;
end
$$;

commit;

begin;

alter table media add column if not exists stored_by xid8;
alter table media alter column stored_by set default pg_current_xact_id();

-- The lock is held now: no row without stored_by will be added.
insert into statistics_backfill (source, until)
select 'media', id from media order by id desc limit 1
on conflict (source) do nothing;

commit;

begin;

alter table verdicts add column if not exists stored_by xid8;
alter table verdicts alter column stored_by set default pg_current_xact_id();

insert into statistics_backfill (source, until)
select 'verdicts', media_id from verdicts order by media_id desc limit 1
on conflict (source) do nothing;

commit;

begin;

alter table delivery_attempts add column if not exists stored_by xid8;
alter table delivery_attempts alter column stored_by set default pg_current_xact_id();

insert into statistics_backfill (source, until)
select 'delivery_attempts', delivery_id from delivery_attempts order by delivery_id desc limit 1
on conflict (source) do nothing;

commit;

begin;

create or replace trigger deliveries_add_given_up
after update of state on deliveries
for each row
when (old.state = 'pending' and new.state in ('exhausted', 'discarded'))
execute function add_given_up_delivery();

commit;
