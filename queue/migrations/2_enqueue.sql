-- Inserts one job per element of six arrays of equal length and returns how many. A function, so that
-- another statement can enqueue inside itself, in the same round trip.
create function queue.enqueue(
    queues       text[],
    lanes        uuid[],
    payloads     text[],
    priorities   smallint[],
    delays_ms    bigint[],
    max_attempts smallint[]
) returns bigint language sql as $$
    with inserted as (
        insert into queue.jobs (queue, lane, payload, priority, max_attempts, state, run_at)
        select n.queue, n.lane, n.payload::json, n.priority, n.max_attempts,
               case when n.delay_ms > 0 then 2 else 0 end,
               now() + n.delay_ms * interval '1 millisecond'
          from unnest(queues, lanes, payloads, priorities, delays_ms, max_attempts)
               as n (queue, lane, payload, priority, delay_ms, max_attempts)
        returning 1
    )
    select count(*) from inserted
$$;
