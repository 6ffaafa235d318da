-- Takes up to p_limit due jobs of a queue for a worker, fairly across lanes, in one round trip.
--
-- The walk starts behind p_cursor and visits at most p_window lanes that have due jobs, each found by one
-- probe of jobs_due_idx: the cost follows the lanes visited, never the length of a backlog. p_cap is the
-- number of jobs a lane may have running (null: any number) unless queue.lanes says otherwise.
--
-- ids to waited_ms are parallel arrays, null when nothing was taken; the jobs of each lane are in its order.
-- `visited` counts lanes; `more` says that an immediate second claim may find jobs, `capped` that a lane
-- has reached its cap; next_due_ms is the time until the next scheduled job.
create function queue.claim(
    p_worker uuid,
    p_queue  text,
    p_limit  integer,
    p_cursor uuid,
    p_window integer,
    p_cap    integer,
    out ids          bigint[],
    out lanes        uuid[],
    out fences       integer[],
    out attempts     smallint[],
    out max_attempts smallint[],
    out payloads     text[],
    out waited_ms    bigint[],
    out next_cursor  uuid,
    out visited      integer,
    out more         boolean,
    out capped       boolean,
    out next_due_ms  bigint
)
-- Every statement probes indexes whatever the values are, so one plan serves; planning them at each call
-- would take three times as long as running them.
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
    v_lanes     uuid[];
    v_first     uuid;
    v_contended boolean;
    v_served    uuid;
    v_leftover  boolean;
begin
    -- A claim that a crash of the server loses is fenced out when its job ends: it need not reach the disk.
    perform set_config('synchronous_commit', 'off', true);

    update queue.jobs j
       set state = 0
     where j.id = any (array(
               select s.id
                 from queue.jobs s
                where s.queue = p_queue and s.state = 2 and s.run_at <= now()
                order by s.run_at
                limit 1000
                  for update skip locked));

    -- `offset 0` keeps the planner from pulling the subqueries up and probing twice for each lane.
    with recursive walk (lane, wrapped, n) as (
        select f.lane, f.lane <= p_cursor, 1
          from (select coalesce(
                    (select j.lane from queue.jobs j
                      where j.queue = p_queue and j.state = 0 and j.lane > p_cursor
                      order by j.lane limit 1),
                    (select j.lane from queue.jobs j
                      where j.queue = p_queue and j.state = 0
                      order by j.lane limit 1)) as lane
                offset 0) f
         where f.lane is not null
        union all
        select x.lane, w.wrapped or x.lane <= w.lane, w.n + 1
          from walk w
         cross join lateral (
               select coalesce(
                    (select j.lane from queue.jobs j
                      where j.queue = p_queue and j.state = 0 and j.lane > w.lane
                      order by j.lane limit 1),
                    case when not w.wrapped then
                        (select j.lane from queue.jobs j
                          where j.queue = p_queue and j.state = 0
                          order by j.lane limit 1)
                    end) as lane
               offset 0) x
         where w.n < p_window
           and x.lane is not null
           -- Once round the ring is enough.
           and not ((w.wrapped or x.lane <= w.lane) and x.lane > p_cursor)
    ),
    unpaused as materialized (
        select w.lane, w.n,
               not coalesce((select l.paused_until > now() from queue.lanes l
                              where l.queue = p_queue and l.lane = w.lane), false) as is_open
          from walk w
    ),
    -- One claim at a time per lane, or two claims would both see room under its cap. Lanes whose hashes
    -- collide merely wait for each other.
    locked as materialized (
        select u.lane, u.n,
               pg_try_advisory_xact_lock(hashtext(p_queue), uuid_hash(u.lane)) as got
          from unpaused u
         where u.is_open
    )
    select (select array_agg(k.lane order by k.n) from locked k where k.got),
           (select k.lane from locked k order by k.n limit 1),
           exists (select from locked k where not k.got),
           (select u.lane from unpaused u order by u.n desc limit 1),
           (select count(*) from unpaused)
      into v_lanes, v_first, v_contended, next_cursor, visited;

    -- Every open lane is being claimed from by others: queue up for the first instead of spinning. Holders
    -- are claims too, which end by themselves, and nobody waits while holding a lane.
    if v_lanes is null and v_first is not null then
        perform pg_advisory_xact_lock(hashtext(p_queue), uuid_hash(v_first));
        v_lanes := array[v_first];
    end if;

    -- A statement of its own: its snapshot is newer than the locks, so the counts under the caps are exact.
    with room as materialized (
        select t.lane, t.n, c.cap is not null as has_cap,
               case when c.cap is null then p_limit
                    else c.cap - (select count(*) from queue.jobs r
                                   where r.queue = p_queue and r.state = 1 and r.lane = t.lane)
               end as room
          from unnest(v_lanes) with ordinality t (lane, n)
          left join queue.lanes l on l.queue = p_queue and l.lane = t.lane
         cross join lateral (select coalesce(l.cap, p_cap) as cap) c
    ),
    share as materialized (
        select greatest(1, ceil(p_limit::float8 / greatest(count(*), 1)))::bigint as k
          from room
         where room.room > 0
    ),
    chosen as materialized (
        select x.id, x.rank, r.lane, r.n,
               x.rank = share.k and share.k < r.room as is_full_share,
               x.rank = r.room and r.has_cap as fills_cap
          from share
         cross join room r
         cross join lateral (
               select j.id, row_number() over (order by j.priority desc, j.run_at, j.id) as rank
                 from queue.jobs j
                where j.queue = p_queue and j.state = 0 and j.lane = r.lane
                order by j.priority desc, j.run_at, j.id
                limit least(share.k, r.room)) x
         where r.room > 0
         order by x.rank, r.n
         limit p_limit
    ),
    -- By an array, so that the plan cannot flip to a hash join over the whole table.
    taken as (
        update queue.jobs j
           set state = 1, locked_by = p_worker, fence = j.fence + 1, attempt = j.attempt + 1
         where j.id = any (array(select c.id from chosen c)) and j.state = 0
        returning j.id, j.lane, j.fence, j.attempt, j.max_attempts, j.priority, j.payload, j.run_at
    ),
    -- Not by rank: joining `chosen` again would be a nested loop, and the claimant takes turns itself.
    ordered as (
        select * from taken t order by t.priority desc, t.run_at, t.id
    )
    select array_agg(o.id), array_agg(o.lane), array_agg(o.fence), array_agg(o.attempt),
           array_agg(o.max_attempts), array_agg(o.payload::text),
           array_agg((extract(epoch from clock_timestamp() - o.run_at) * 1000)::bigint),
           -- With fewer jobs than lanes, the next claim starts behind the last lane served.
           case when count(*) >= p_limit
                then (select c.lane from chosen c order by c.n desc limit 1) end,
           coalesce((select bool_or(c.is_full_share) from chosen c), false),
           exists (select from room r where r.room <= 0)
               or exists (select from chosen c where c.fills_cap)
      from ordered o
      into ids, lanes, fences, attempts, max_attempts, payloads, waited_ms, v_served, v_leftover, capped;

    next_cursor := coalesce(v_served, next_cursor, p_cursor);
    more := v_leftover or v_contended or visited >= p_window or v_served is not null;
    next_due_ms := (
        select greatest(0, ceil(extract(epoch from s.run_at - clock_timestamp()) * 1000))::bigint
          from queue.jobs s
         where s.queue = p_queue and s.state = 2
         order by s.run_at
         limit 1);
end
$$;
