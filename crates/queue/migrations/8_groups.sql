-- Groups of lanes, and formats of payloads.
--
-- A lane belongs to a group: whoever owns several lanes has one share, not one for each of them. Jobs that were enqueued
-- before are in one group of their own.
alter table queue.jobs
    add column grp uuid not null default '00000000-0000-0000-0000-000000000000',
    -- What a worker must understand to run the job. Binaries that know nothing of formats claim jobs of format 0 only.
    add column format smallint not null default 0;
alter table queue.dead_jobs
    add column grp uuid not null default '00000000-0000-0000-0000-000000000000',
    add column format smallint not null default 0;

-- As in 6_generations.sql, with the group and the format of each job.
create function queue.enqueue(
    queues       text[],
    groups       uuid[],
    lanes        uuid[],
    payloads     text[],
    formats      smallint[],
    priorities   smallint[],
    delays_ms    bigint[],
    max_attempts smallint[]
) returns bigint language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
    enqueued bigint;
    v_gen    integer;
begin
    if exists (select from unnest(payloads) as p (payload) where octet_length(p.payload) > 262144) then
        raise exception 'the payload of a job has more than 262144 bytes'
            using errcode = 'string_data_right_truncation', hint = 'Store it, and enqueue its id.';
    end if;
    v_gen := queue.enter_generation();
    insert into queue.jobs (queue, grp, lane, payload, format, priority, max_attempts, state, run_at, gen)
    select n.queue, n.grp, n.lane, n.payload::json, n.format, n.priority, n.max_attempts,
           case when n.delay_ms > 0 then 2 else 0 end,
           now() + n.delay_ms * interval '1 millisecond',
           v_gen
      from unnest(queues, groups, lanes, payloads, formats, priorities, delays_ms, max_attempts)
           as n (queue, grp, lane, payload, format, priority, delay_ms, max_attempts);
    get diagnostics enqueued = row_count;
    return enqueued;
end
$$;

-- For binaries that know no groups: each lane is a group of its own.
create or replace function queue.enqueue(
    queues       text[],
    lanes        uuid[],
    payloads     text[],
    priorities   smallint[],
    delays_ms    bigint[],
    max_attempts smallint[]
) returns bigint language sql as $$
    select queue.enqueue(queues, lanes, lanes, payloads, array_fill(0::smallint, array[cardinality(queues)]),
                         priorities, delays_ms, max_attempts)
$$;

-- As in 4_dead_jobs.sql, with the group and the format.
create or replace function queue.replay(
    p_ids       bigint[],
    p_queue     text,
    p_lane      uuid,
    p_cause     text,
    p_error     text,
    p_after     timestamptz,
    p_after_id  bigint,
    p_before    timestamptz,
    p_before_id bigint,
    p_limit     integer,
    out visited      bigint,
    out replayed     bigint,
    out queues       text[],
    out last_died_at timestamptz,
    out last_id      bigint
)
-- Planned with the values at hand, which removes the conditions that are null. Without bitmaps, because a table
-- that has just filled has no statistics: the planner takes the jobs of a queue for a few and sorts them all.
language plpgsql set plan_cache_mode = force_custom_plan set enable_bitmapscan = off as $$
declare
    v_gen integer := queue.enter_generation();
begin
    with met as materialized (
        select d.id, d.died_at,
               (p_cause is null or d.cause = p_cause)
               and (p_error is null or strpos(d.error, p_error) > 0) as is_match
          from queue.dead_jobs d
         where (p_ids is null or d.id = any (p_ids))
           and (p_queue is null or d.queue = p_queue)
           and (p_lane is null or d.lane = p_lane)
           and (p_after is null or (d.died_at, d.id) > (p_after, p_after_id))
           and (p_before is null or (d.died_at, d.id) < (p_before, p_before_id))
         order by d.died_at, d.id
         limit p_limit
    ),
    -- What another replay has in hand is left to it.
    chosen as materialized (
        select d.id
          from queue.dead_jobs d
         where d.id = any (array(select m.id from met m where m.is_match))
           for update skip locked
    ),
    gone as (
        delete from queue.dead_jobs d
         where d.id = any (array(select c.id from chosen c))
        returning d.*
    ),
    enqueued as (
        insert into queue.jobs (queue, grp, lane, payload, format, priority, max_attempts, gen)
        select g.queue, g.grp, g.lane, g.payload, g.format, g.priority, g.max_attempts, v_gen
          from gone g
         order by g.died_at, g.id
        returning jobs.queue
    )
    select (select count(*) from met),
           (select count(*) from enqueued),
           array(select distinct e.queue from enqueued e),
           (select m.died_at from met m order by m.died_at desc, m.id desc limit 1),
           (select m.id from met m order by m.died_at desc, m.id desc limit 1)
      into visited, replayed, queues, last_died_at, last_id;
end
$$;
