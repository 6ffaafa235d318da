-- How jobs come into the table.

-- Inserts one job per element of eight arrays of equal length and returns how many. A function, so that
-- another statement can enqueue inside itself, in the same round trip. In plpgsql, because that keeps its
-- plan from call to call; planning would take longer than a small insert.
create or replace function queue.enqueue(
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
