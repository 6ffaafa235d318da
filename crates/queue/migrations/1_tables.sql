-- The queue's tables. A job's row lives while there is work to do: a finished job's row is deleted,
-- a dead job's row moves to queue.dead_jobs.

create table queue.jobs (
    id           bigint generated always as identity,
    run_at       timestamptz not null default now(),
    created_at   timestamptz not null default now(),
    -- Counts every claim and never goes back. Together with the worker it says whether the one who
    -- ended a job still owned it.
    fence        integer     not null default 0,
    -- Counts the charged attempts: a job given back unstarted, or rescheduled through no fault of its
    -- own, is not charged.
    attempt      smallint    not null default 0,
    max_attempts smallint    not null,
    -- 0 due, 1 running, 2 scheduled, 3 doomed (waits for its burial). Due and scheduled are apart so that
    -- a due job is never searched for among a million scheduled ones.
    state        smallint    not null default 0,
    priority     smallint    not null default 0,
    lane         uuid        not null,
    locked_by    uuid,
    queue        text        not null,
    cause        text,
    last_error   text,
    payload      json        not null,
    constraint jobs_pkey primary key (id),
    constraint jobs_state_known check (state between 0 and 3),
    constraint jobs_locked_while_running check ((state = 1) = (locked_by is not null)),
    constraint jobs_cause_when_doomed check ((state = 3) = (cause is not null)),
    constraint jobs_max_attempts_positive check (max_attempts > 0)
) with (
    -- Every job leaves two or three dead rows behind: vacuum by their number, not by a share of a table
    -- whose size swings, and without pausing, because the claim walks over what is not yet cleaned.
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 50000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 20000
);

-- The walk over lanes, and the order within one.
create index jobs_due_idx on queue.jobs (queue, lane, priority desc, run_at, id) where state = 0;
-- How many run in a lane, and which jobs a dead worker held.
create index jobs_running_idx on queue.jobs (queue, lane) where state = 1;
-- What to promote, and what to bury.
create index jobs_waiting_idx on queue.jobs (queue, state, run_at) where state >= 2;
-- There is deliberately no index on locked_by, and no partial index that `locked_by = ...` or `fence = ...`
-- would imply: the finish must always go through the primary key.

create table queue.dead_jobs (
    -- The id it had as a job. A replayed job gets a new one, because a stalled worker may still hold the old.
    id           bigint      not null,
    queue        text        not null,
    lane         uuid        not null,
    priority     smallint    not null,
    attempt      smallint    not null,
    max_attempts smallint    not null,
    created_at   timestamptz not null,
    died_at      timestamptz not null default now(),
    cause        text        not null,
    error        text        not null,
    payload      json        not null,
    constraint dead_jobs_pkey primary key (id)
);
create index dead_jobs_queue_idx on queue.dead_jobs (queue, died_at);
create index dead_jobs_died_at_idx on queue.dead_jobs (died_at);

-- Exceptions only: a lane without a row runs under its queue's default cap.
create table queue.lanes (
    queue        text not null,
    lane         uuid not null,
    cap          integer,
    paused_until timestamptz,
    constraint lanes_pkey primary key (queue, lane),
    constraint lanes_cap_not_negative check (cap >= 0)
);

-- One row per living process. A worker whose row is missing or expired holds nothing.
create table queue.workers (
    id         uuid        not null,
    started_at timestamptz not null default now(),
    expires_at timestamptz not null,
    constraint workers_pkey primary key (id)
) with (
    -- A few rows, rewritten every few seconds, read by every sweep.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 500
);
