-- How a process that works on the queue inserts jobs as its own.

-- Enqueues jobs, and claims those of them that the enqueueing worker wants and may have: they are inserted as running, under
-- their first fence and with their first attempt charged, as a claim would have left them. Everything that a claim minds is
-- minded here: pauses, and caps, which are counted under the locks of the group and the lane in a snapshot that is newer. What is
-- paused, has no room, or is being claimed from by others at this moment, is inserted as `queue.enqueue` would. Nobody waits for
-- a lock here, because the lock is kept until the transaction ends.
--
-- The arrays are parallel, one element a job. p_places numbers the jobs for the caller, who may insert only some of them.
-- p_wanted says which the worker has room for; the caps are those of the worker's settings, null for none.
-- `places` and `ids` are parallel, too: all jobs that were inserted, and the ids of those that the worker holds now, else null.
create or replace function queue.enqueue_held(
    p_worker       uuid,
    p_places       integer[],
    p_queues       text[],
    p_groups       uuid[],
    p_lanes        uuid[],
    p_payloads     text[],
    p_formats      smallint[],
    p_priorities   smallint[],
    p_delays_ms    bigint[],
    p_max_attempts smallint[],
    p_wanted       boolean[],
    p_group_caps   integer[],
    p_lane_caps    integer[],
    out places     integer[],
    out ids        bigint[]
)
-- One plan serves all calls, whatever the size of the table was when it was made: see queue.claim.
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off
as $$
declare
    v_young      integer;
    v_live       integer[];
    v_ids        bigint[];
    v_held       boolean[];
    v_group_caps integer[];
    v_lane_caps  integer[];
    v_has_group_caps boolean;
    v_has_lane_caps  boolean;
begin
    places := coalesce(p_places, '{}');
    ids := '{}';
    if places = '{}' then
        return;
    end if;
    if exists (select from unnest(p_payloads) as p (payload) where octet_length(p.payload) > 262144) then
        raise exception 'the payload of a job has more than 262144 bytes'
            using errcode = 'string_data_right_truncation', hint = 'Store it, and enqueue its id.';
    end if;
    if true = any (p_wanted) then
        if current_setting('transaction_isolation') <> 'read committed' then
            raise exception 'queue.enqueue_held needs the isolation level read committed'
                using hint = 'Under any other, what runs in a lane cannot be counted after it was locked.';
        end if;
        -- As in a claim: no generation is closed meanwhile that was condemned since.
        loop
            v_young := pg_sequence_last_value('queue.young');
            perform pg_advisory_xact_lock_shared(hashtext('queue.claims'), v_young);
            exit when queue.enter_generation() = v_young;
        end loop;

        -- One claim at a time for each capped group and lane, or two would both see room under its cap.
        select array_agg(k.is_open and k.got order by k.n), array_agg(k.group_cap order by k.n),
               array_agg(k.lane_cap order by k.n), bool_or(k.is_open and k.got and k.group_cap is not null),
               bool_or(k.is_open and k.got and k.lane_cap is not null)
          into v_held, v_group_caps, v_lane_caps, v_has_group_caps, v_has_lane_caps
          from (select o.*,
                       case when not o.is_open then false
                            when o.group_cap is null then true
                            else pg_try_advisory_xact_lock(hashtext(o.queue), uuid_hash(o.grp)) end
                       and case when not o.is_open then false
                                when o.lane_cap is null then true
                                else pg_try_advisory_xact_lock(hashtext(o.queue), uuid_hash(o.lane)) end as got
                  from (select n.n, n.queue, n.grp, n.lane,
                               coalesce((select g.cap from queue.groups g
                                          where g.queue = n.queue and g.grp = n.grp), n.group_cap) as group_cap,
                               coalesce((select l.cap from queue.lanes l
                                          where l.queue = n.queue and l.lane = n.lane), n.lane_cap) as lane_cap,
                               n.wanted and n.delay_ms = 0
                               and not exists (select from queue.queues q
                                                where q.queue = n.queue and q.paused_until > now())
                               and not exists (select from queue.groups g
                                                where g.queue = n.queue and g.grp = n.grp and g.paused_until > now())
                               and not exists (select from queue.lanes l
                                                where l.queue = n.queue and l.lane = n.lane and l.paused_until > now())
                               as is_open
                          from unnest(p_queues, p_groups, p_lanes, p_delays_ms, p_wanted, p_group_caps, p_lane_caps)
                               with ordinality as n (queue, grp, lane, delay_ms, wanted, group_cap, lane_cap, n)
                        offset 0) o
                offset 0) k;

        if v_has_group_caps or v_has_lane_caps then
            -- What a claim that held these locks before took is in a generation that is live now.
            v_live := queue.live_generations();
            -- A statement of its own: its snapshot is newer than the locks, so the counts under the caps are exact. Where jobs
            -- are due already, the room under a cap is theirs. Not `exists`, for which all due jobs could be hashed.
            if v_has_group_caps then
                with open as materialized (
                    select n.*, row_number() over (partition by n.queue, n.lane order by n.n) as place
                      from unnest(p_queues, p_groups, p_lanes, v_held, v_group_caps, v_lane_caps)
                           with ordinality as n (queue, grp, lane, is_open, group_cap, lane_cap, n)
                     where n.is_open
                ),
                lanes as materialized (
                    select o.queue, o.lane,
                           case when (select true from queue.jobs d
                                       where d.gen = any (v_live) and d.queue = o.queue and d.state = 0
                                         and d.grp = o.grp and d.lane = o.lane and d.fence >= 0
                                       limit 1)
                                then 0
                                else o.lane_cap - (select count(*) from queue.jobs r
                                                    where r.gen = any (v_live) and r.queue = o.queue and r.state = 1
                                                      and r.lane = o.lane)
                           end as room
                      from open o
                     where o.place = 1 and o.lane_cap is not null
                ),
                fitting as materialized (
                    select o.*, row_number() over (partition by o.queue, o.grp order by o.n) as group_place
                      from open o
                      left join lanes l on l.queue = o.queue and l.lane = o.lane
                     where o.lane_cap is null or o.place <= l.room
                ),
                groups as materialized (
                    select o.queue, o.grp,
                           case when (select true from queue.jobs d
                                       where d.gen = any (v_live) and d.queue = o.queue and d.state = 0
                                         and d.grp = o.grp and d.fence >= 0
                                       limit 1)
                                then 0
                                else o.group_cap - (select count(*) from queue.jobs r
                                                     where r.gen = any (v_live) and r.queue = o.queue and r.state = 1
                                                       and r.grp = o.grp)
                           end as room
                      from fitting o
                     where o.group_place = 1 and o.group_cap is not null
                )
                select array_agg(h.n is not null order by a.n)
                  into v_held
                  from generate_subscripts(v_held, 1) as a (n)
                  left join (select f.n
                               from fitting f
                               left join groups g on g.queue = f.queue and g.grp = f.grp
                              where f.group_cap is null or f.group_place <= g.room) h on h.n = a.n;
            else
                -- The same with fewer parts, which take longer to start than to run.
                select array_agg(r.is_open and (r.lane_cap is null or r.place <= r.room) order by r.n)
                  into v_held
                  from (select p.n, p.is_open, p.lane_cap, p.place,
                               max(case when p.is_open and p.place = 1 and p.lane_cap is not null
                                        then case when (select true from queue.jobs d
                                                         where d.gen = any (v_live) and d.queue = p.queue and d.state = 0
                                                           and d.grp = p.grp and d.lane = p.lane and d.fence >= 0
                                                         limit 1)
                                                  then 0
                                                  else p.lane_cap - (select count(*) from queue.jobs r
                                                                      where r.gen = any (v_live) and r.queue = p.queue
                                                                        and r.state = 1 and r.lane = p.lane)
                                             end
                                   end) over (partition by p.queue, p.lane, p.is_open) as room
                          from (select n.*, row_number() over (partition by n.queue, n.lane, n.is_open order by n.n) as place
                                  from unnest(p_queues, p_groups, p_lanes, v_held, v_lane_caps)
                                       with ordinality as n (queue, grp, lane, is_open, lane_cap, n)) p) r;
            end if;
        end if;
    else
        v_young := queue.enter_generation();
        v_held := p_wanted;
    end if;

    v_ids := array(select nextval('queue.jobs_id_seq') from generate_series(1, cardinality(places)));
    insert into queue.jobs (id, queue, grp, lane, payload, format, priority, max_attempts, state, run_at, gen,
                            locked_by, fence, attempt)
    overriding system value
    select n.id, n.queue, n.grp, n.lane, n.payload::json, n.format, n.priority, n.max_attempts,
           case when n.held then 1 when n.delay_ms > 0 then 2 else 0 end,
           now() + n.delay_ms * interval '1 millisecond',
           v_young,
           case when n.held then p_worker end, n.held::integer, n.held::integer
      from unnest(v_ids, p_queues, p_groups, p_lanes, p_payloads, p_formats, p_priorities, p_delays_ms,
                  p_max_attempts, v_held)
           as n (id, queue, grp, lane, payload, format, priority, delay_ms, max_attempts, held);
    ids := array(select case when h.held then h.id end
                   from unnest(v_ids, v_held) with ordinality as h (id, held, n)
                  order by h.n);
end
$$;
