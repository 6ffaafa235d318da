-- Inserts one job per element of six arrays of equal length and returns how many. A function, so that
-- another statement can enqueue inside itself, in the same round trip. In plpgsql, because that keeps its
-- plan from call to call; planning would take longer than a small insert.
create function queue.enqueue(
    queues       text[],
    lanes        uuid[],
    payloads     text[],
    priorities   smallint[],
    delays_ms    bigint[],
    max_attempts smallint[]
) returns bigint language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
    enqueued bigint;
begin
    insert into queue.jobs (queue, lane, payload, priority, max_attempts, state, run_at)
    select n.queue, n.lane, n.payload::json, n.priority, n.max_attempts,
           case when n.delay_ms > 0 then 2 else 0 end,
           now() + n.delay_ms * interval '1 millisecond'
      from unnest(queues, lanes, payloads, priorities, delays_ms, max_attempts)
           as n (queue, lane, payload, priority, delay_ms, max_attempts);
    get diagnostics enqueued = row_count;
    return enqueued;
end
$$;
