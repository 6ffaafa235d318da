-- How jobs die, and run again.

-- Doomed jobs of a queue that may be buried now, locked for it.
create or replace function queue.doomed(p_queue text, p_limit bigint)
returns table (id bigint, lane uuid, attempt smallint, cause text, error text, payload text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
set jit = off
as $$
begin
    return query
    select j.id, j.lane, j.attempt, j.cause, coalesce(j.last_error, ''), j.payload::text
      from queue.jobs j
     where j.queue = p_queue and j.state = 3 and j.run_at <= now()
     order by j.run_at
     limit p_limit
       for update skip locked;
end
$$;

-- Enqueues dead jobs again: due at once, no attempt spent, under new ids. Visits the next p_limit of them in the
-- order of their death, after p_after and before p_before, and replays those that have the cause and the text in
-- their error. Every other condition that is not null is answered by an index, so that a call costs in
-- proportion to p_limit, however many jobs are dead.
--
-- `last_died_at` and `last_id` are where the next call goes on; with fewer `visited` than p_limit there is none.
create or replace function queue.replay(
    p_ids       bigint[],
    p_queue     text,
    p_group     uuid,
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
           and (p_group is null or d.grp = p_group)
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

-- For binaries that know no groups.
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
) language sql as $$
    select * from queue.replay(p_ids, p_queue, null, p_lane, p_cause, p_error, p_after, p_after_id, p_before, p_before_id, p_limit)
$$;
