-- How a worker takes due jobs: over groups, and within a group over its lanes. Groups have equal shares, and so have the lanes
-- of a group. A group that has the id of its lane has that lane only, and needs no walk of its own.

-- Takes up to p_limit due jobs of a queue for a worker, in one round trip.
--
-- No more due jobs than are wanted: they are found and taken by small statements, because to start a large one takes longer than
-- to run it. p_is_deep skips this try when the last claim came back full.
--
-- More of them: the walk starts behind the group p_after and visits at most p_window groups that have due jobs, each found by
-- one probe of jobs_due_idx, then lanes of theirs. Its cost follows what it visits, never the length of a backlog. In a group it
-- starts behind the lane that is named in p_ring_lanes, which the last claim returned.
--
-- p_lane_cap and p_group_cap are the jobs that may run at once (null: any number), unless queue.lanes and queue.groups say
-- otherwise. p_room and the four arrays after it say how much room the process has for a group or a lane: see
-- src/buffer/capacity.rs. p_format is the highest format that the process understands.
--
-- ids to waited_ms are parallel arrays, null when nothing was taken; the jobs of each lane are in its order. `visited` counts
-- what the walk met, `met` the groups; `more` says that an immediate second claim may find jobs, `capped` that a lane or a group
-- has reached its cap; next_due_ms is the time until the next scheduled job.
create or replace function queue.claim(
    p_worker      uuid,
    p_queue       text,
    p_limit       integer,
    p_after       uuid,
    p_window      integer,
    p_lane_cap    integer,
    p_group_cap   integer,
    p_format      smallint,
    p_is_deep     boolean   default false,
    p_room        integer   default null,
    p_groups      uuid[]    default '{}',
    p_group_rooms integer[] default '{}',
    p_lanes       uuid[]    default '{}',
    p_lane_rooms  integer[] default '{}',
    p_lane_has    integer   default 0,
    p_in_flight   integer   default 0,
    p_ring_groups uuid[]    default '{}',
    p_ring_lanes  uuid[]    default '{}',
    out ids          bigint[],
    out groups       uuid[],
    out lanes        uuid[],
    out fences       integer[],
    out attempts     smallint[],
    out max_attempts smallint[],
    out payloads     text[],
    out waited_ms    bigint[],
    out next_group   uuid,
    out ring_groups  uuid[],
    out ring_lanes   uuid[],
    out visited      integer,
    out met          integer,
    out more         boolean,
    out capped       boolean,
    out next_due_ms  bigint
)
-- Every statement probes indexes whatever the values are, so one plan serves; planning them at each call would take
-- three times as long as running them. A plan may be made while the table is empty and be used when it is not: so it
-- must not be chosen by the size of the table.
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off
-- Nobody waits for a lane for ever, also when the client has given up.
set lock_timeout = '5s'
as $$
declare
    c_nobody    constant uuid := '00000000-0000-0000-0000-000000000000';
    v_young     integer;
    v_gens      integer[];
    v_taken     integer[];
    v_promoted  timestamptz;
    v_due       timestamptz;
    v_found     integer;
    v_places    tid[];
    v_is_own    boolean;
    v_is_paused boolean;
    v_is_excepted boolean;
    v_paused    uuid[];
    v_open      uuid[];
    -- The groups met that are open, in the order of the walk, and of each: whether it is its own lane, in which generations it
    -- has jobs (a bit for each place in v_gens), its room, its cap.
    v_groups    uuid[];
    v_owns      boolean[];
    v_masks     integer[];
    v_rooms     integer[];
    v_caps      integer[];
    v_last      uuid;
    v_window    integer;
    -- The lanes met, and of each: its group's place in v_groups, its generations, its room.
    v_lanes       uuid[];
    v_lane_groups integer[];
    v_lane_masks  integer[];
    v_lane_rooms  integer[];
    v_cut_groups  uuid[];
    v_cut_lanes   uuid[];
    v_first       integer;
    v_first_lane  uuid;
    v_first_mask  integer;
    v_first_room  integer;
    v_contended   boolean := false;
    v_is_split    boolean := false;
    v_served      integer;
    v_leftover    boolean;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'queue.claim needs the isolation level read committed'
            using hint = 'Under any other, what runs in a lane cannot be counted after it was locked.';
    end if;
    -- A claim that a crash of the server loses is fenced out when its job ends: it need not reach the disk.
    perform set_config('synchronous_commit', 'off', true);
    -- No generation is closed while a claim is under way that began before it was condemned: what the claim counts must
    -- not be moved out of its sight, and what it takes must not be where others do not count.
    loop
        v_young := pg_sequence_last_value('queue.young');
        perform pg_advisory_xact_lock_shared(hashtext('queue.claims'), v_young);
        exit when queue.enter_generation() = v_young;
    end loop;
    v_gens := queue.live_generations();
    v_promoted := to_timestamp(pg_sequence_last_value('queue.promoted_until') / 1000000.0);
    next_group := p_after;
    visited := 0;
    met := 0;
    more := false;
    capped := false;

    -- Only when the next scheduled job is due is there anything to promote.
    v_due := (
        select s.run_at
          from queue.jobs s
         where s.queue = p_queue and s.state = 2 and s.run_at > v_promoted
         order by s.run_at
         limit 1);
    if v_due <= now() then
        update queue.jobs j
           set state = 0, gen = v_young
         where j.id = any (array(
                   select s.id
                     from queue.jobs s
                    where s.queue = p_queue and s.state = 2 and s.run_at > v_promoted and s.run_at <= now()
                    order by s.run_at
                    limit 1000
                      for update skip locked));
        v_due := (
            select s.run_at
              from queue.jobs s
             where s.queue = p_queue and s.state = 2 and s.run_at > v_promoted
             order by s.run_at
             limit 1);
    end if;
    if v_due is not null then
        next_due_ms := greatest(0, ceil(extract(epoch from v_due - clock_timestamp()) * 1000))::bigint;
    end if;

    <<few>>
    begin
        exit few when p_is_deep;
        -- The comparison of the fence is always true: it makes the probes read the rows, so that the server's statistics tell how
        -- many of the entries they meet are dead (queue/src/generations.rs).
        select array_agg(d.place), array_agg(d.grp), array_agg(d.lane), bool_and(d.grp = d.lane), count(*)
          from (select j.ctid as place, j.grp, j.lane
                  from queue.jobs j
                 where j.gen = any (v_gens) and j.queue = p_queue and j.state = 0 and j.fence >= 0
                   and j.format <= p_format
                 limit p_limit + 1) d
          into v_places, v_groups, v_lanes, v_is_own, v_found;
        exit few when v_found > p_limit;
        if v_found = 0 then
            return;
        end if;
        visited := v_found;
        met := case when v_groups[1] = all (v_groups) then 1 else v_found end;
        -- The process has room for all of them, whoever they belong to?
        exit few when p_room is not null
            and (v_found > case when v_is_own then p_room
                                else (p_room + p_in_flight - p_lane_has + 1) / 2 - p_in_flight end
                 or exists (select from unnest(p_groups, p_group_rooms) l (grp, room)
                             where l.room < v_found and l.grp = any (v_groups))
                 or exists (select from unnest(p_lanes, p_lane_rooms) l (lane, room)
                             where l.room < v_found and l.lane = any (v_lanes)));
        select exists (select from queue.queues q where q.queue = p_queue and q.paused_until > now()),
               array(select g.grp from queue.groups g
                      where g.queue = p_queue and g.grp = any (v_groups) and g.paused_until > now()),
               p_group_cap is not null
               or exists (select from queue.groups g
                           where g.queue = p_queue and g.grp = any (v_groups) and g.cap is not null),
               p_lane_cap is not null
               or exists (select from queue.lanes l where l.queue = p_queue and l.lane = any (v_lanes))
          into v_is_paused, v_paused, capped, v_is_excepted;
        if v_is_paused then
            return;
        end if;
        exit few when capped;
        if not v_is_excepted and v_paused = '{}' then
            -- Nothing holds any of them back. Two claims that found the same jobs meet at the rows.
            with taken as (
                update queue.jobs j
                   set state = 1, gen = v_young, locked_by = p_worker, fence = j.fence + 1, attempt = j.attempt + 1
                 where j.ctid = any (v_places) and j.state::integer = 0
                returning j.id, j.grp, j.lane, j.fence, j.attempt, j.max_attempts, j.priority, j.payload, j.run_at
            )
            select array_agg(o.id), array_agg(o.grp), array_agg(o.lane), array_agg(o.fence), array_agg(o.attempt),
                   array_agg(o.max_attempts), array_agg(o.payload::text),
                   array_agg((date_part('epoch', clock_timestamp() - o.run_at) * 1000)::bigint),
                   -- Others took them, or housekeeping moved them.
                   count(*) < v_found
              from (select * from taken t order by t.priority desc, t.run_at, t.id) o
              into ids, groups, lanes, fences, attempts, max_attempts, payloads, waited_ms, more;
            return;
        end if;
        select array_agg(k.lane) filter (where k.got), coalesce(bool_or(not k.got), false)
          from (select s.lane,
                       case when coalesce((select l.cap from queue.lanes l
                                            where l.queue = p_queue and l.lane = s.lane), p_lane_cap) is null then true
                            else pg_try_advisory_xact_lock(hashtext(p_queue), uuid_hash(s.lane)) end as got
                  from (select distinct l.lane from unnest(v_lanes) l (lane) offset 0) s
                 where not coalesce((select l.paused_until > now() from queue.lanes l
                                      where l.queue = p_queue and l.lane = s.lane), false)
                offset 0) k
          into v_open, v_contended;
        -- Others claim from all of them: below is how to wait.
        exit few when v_open is null and v_contended;
        if v_open is null then
            return;
        end if;
        -- A statement of its own, here and below: its snapshot is newer than the locks, so that the counts are exact. What a
        -- claim that held these locks before took is in a generation that is live now.
        v_taken := queue.live_generations();
        with room as materialized (
            select o.lane,
                   c.cap - (select count(*) from queue.jobs r
                             where r.gen = any (v_taken) and r.queue = p_queue and r.state = 1 and r.lane = o.lane) as room
              from unnest(v_open) o (lane)
             cross join lateral (
                   select coalesce((select l.cap from queue.lanes l
                                     where l.queue = p_queue and l.lane = o.lane), p_lane_cap) as cap
                   offset 0) c
        ),
        present as materialized (
            select j.ctid as place, j.grp, j.lane,
                   row_number() over (partition by j.lane order by j.priority desc, j.run_at, j.id) as rank
              from queue.jobs j
             where j.ctid = any (v_places) and j.state::integer = 0 and j.grp <> all (v_paused)
        ),
        chosen as materialized (
            select x.place, x.rank, r.room
              from present x
              join room r on r.lane = x.lane
             where r.room is null or x.rank <= r.room
        ),
        taken as (
            update queue.jobs j
               set state = 1, gen = v_young, locked_by = p_worker, fence = j.fence + 1, attempt = j.attempt + 1
             where j.ctid = any (array(select c.place from chosen c)) and j.state::integer = 0
            returning j.id, j.grp, j.lane, j.fence, j.attempt, j.max_attempts, j.priority, j.payload, j.run_at
        )
        select array_agg(o.id), array_agg(o.grp), array_agg(o.lane), array_agg(o.fence), array_agg(o.attempt),
               array_agg(o.max_attempts), array_agg(o.payload::text),
               array_agg((date_part('epoch', clock_timestamp() - o.run_at) * 1000)::bigint),
               v_contended or count(*) < (select count(*) from chosen)
                   or (v_paused = '{}' and v_found > (select count(*) from present)),
               exists (select from room r where r.room <= 0) or exists (select from chosen c where c.rank = c.room)
          from (select * from taken t order by t.priority desc, t.run_at, t.id) o
          into ids, groups, lanes, fences, attempts, max_attempts, payloads, waited_ms, more, capped;
        return;
    end few;

    -- One walk a generation.
    with recursive walk (gen, grp, is_own, wrapped, n) as (
        select e.gen, f.grp, f.grp = f.lane, f.wrapped, 1
          from unnest(v_gens) e (gen)
         cross join lateral (
               (select j.grp, j.lane, false as wrapped from queue.jobs j
                 where j.gen = e.gen and j.queue = p_queue and j.state = 0 and j.grp > p_after and j.fence >= 0
                 order by j.grp, j.lane limit 1)
                union all
               (select j.grp, j.lane, true from queue.jobs j
                 where j.gen = e.gen and j.queue = p_queue and j.state = 0 and j.fence >= 0
                 order by j.grp, j.lane limit 1)
                limit 1) f
         where not exists (select from queue.queues q where q.queue = p_queue and q.paused_until > now())
        union all
        select w.gen, x.grp, x.grp = x.lane, x.wrapped, w.n + 1
          from walk w
         cross join lateral (
               (select j.grp, j.lane, w.wrapped as wrapped from queue.jobs j
                 where j.gen = w.gen and j.queue = p_queue and j.state = 0 and j.grp > w.grp and j.fence >= 0
                 order by j.grp, j.lane limit 1)
                union all
               (select j.grp, j.lane, true from queue.jobs j
                 where j.gen = w.gen and j.queue = p_queue and j.state = 0 and j.fence >= 0 and not w.wrapped
                 order by j.grp, j.lane limit 1)
                limit 1) x
         where w.n < p_window
           -- Once round the ring is enough.
           and not (x.wrapped and x.grp > p_after)
    ),
    merged as materialized (
        select m.grp, bool_and(m.is_own) as is_own, bit_or(1 << array_position(v_gens, m.gen)) as mask,
               row_number() over (order by m.wrapped, m.grp) as n
          from walk m
         group by m.wrapped, m.grp
         order by m.wrapped, m.grp
         limit p_window
    ),
    excepted as materialized (
        select m.*, coalesce(p_group_rooms[array_position(p_groups, m.grp)], p_room, p_limit) as room,
               coalesce((select g.paused_until > now() from queue.groups g
                          where g.queue = p_queue and g.grp = m.grp), false) as is_paused,
               coalesce((select g.cap from queue.groups g
                          where g.queue = p_queue and g.grp = m.grp), p_group_cap) as cap
          from merged m
    )
    -- In order because its input is: an `order by` in each aggregate would sort as often.
    select array_agg(o.grp), array_agg(o.is_own), array_agg(o.mask), array_agg(o.room), array_agg(o.cap),
           coalesce(bool_and(o.is_own), true), coalesce(bool_or(o.cap is not null), false),
           (select count(*) from merged),
           (select m.grp from merged m order by m.n desc limit 1)
      from (select * from excepted x where x.room > 0 and not x.is_paused order by x.n) o
      into v_groups, v_owns, v_masks, v_rooms, v_caps, v_is_own, capped, met, v_last;
    visited := met;
    next_group := coalesce(v_last, p_after);
    more := met >= p_window;
    if v_groups is null then
        return;
    end if;

    -- One claim at a time for each capped group, or two claims would both see room under its cap. Groups come before lanes, and
    -- nobody waits for a group while holding anything.
    if capped then
        select array_agg(case when l.got then l.room else 0 end order by l.n),
               bool_or(not l.got), min(l.n) filter (where not l.got)
          from (select g.n, g.room,
                       case when g.cap is null then true
                            else pg_try_advisory_xact_lock(hashtext(p_queue), uuid_hash(g.grp)) end as got
                  from unnest(v_groups, v_rooms, v_caps) with ordinality g (grp, room, cap, n)
                offset 0) l
          into v_rooms, v_contended, v_first;
        if not exists (select from unnest(v_rooms) r (room) where r.room > 0) then
            perform pg_advisory_xact_lock(hashtext(p_queue), uuid_hash(v_groups[v_first]));
            more := true;
            return;
        end if;
        v_taken := queue.live_generations();
        with running as materialized (
            select r.grp, count(*) as jobs
              from queue.jobs r
             where r.gen = any (v_taken) and r.queue = p_queue and r.state = 1 and r.grp = any (v_groups)
             group by r.grp
        )
        select array_agg(case when g.cap is null then g.room
                              else greatest(0, least(g.room, g.cap - coalesce(
                                       (select r.jobs from running r where r.grp = g.grp), 0)))
                         end order by g.n)
          from unnest(v_groups, v_rooms, v_caps) with ordinality g (grp, room, cap, n)
          into v_rooms;
    end if;

    if v_is_own then
        v_lanes := v_groups;
        v_lane_masks := v_masks;
        v_lane_groups := array(select generate_series(1, cardinality(v_groups)));
    else
        -- The same walk over the lanes of each group.
        v_window := (select greatest(2, ceil(p_window::float8 / count(*)))::integer
                       from unnest(v_owns) o (is_own) where not o.is_own);
        with recursive groups as materialized (
            select g.n::integer as n, g.grp, g.mask,
                   coalesce(p_ring_lanes[array_position(p_ring_groups, g.grp)], c_nobody) as after
              from unnest(v_groups, v_owns, v_masks, v_rooms) with ordinality g (grp, is_own, mask, room, n)
             where not g.is_own and g.room > 0
        ),
        walk (gen, grp, after, place, lane, wrapped, n) as (
            select e.gen, g.grp, g.after, g.n, f.lane, f.wrapped, 1
              from groups g
             cross join unnest(v_gens) with ordinality e (gen, bit)
             cross join lateral (
                   (select j.lane, false as wrapped from queue.jobs j
                     where j.gen = e.gen and j.queue = p_queue and j.state = 0 and j.grp = g.grp
                       and j.lane > g.after and j.fence >= 0
                     order by j.lane limit 1)
                    union all
                   (select j.lane, true from queue.jobs j
                     where j.gen = e.gen and j.queue = p_queue and j.state = 0 and j.grp = g.grp and j.fence >= 0
                     order by j.lane limit 1)
                    limit 1) f
             where g.mask & (1 << e.bit::integer) <> 0
            union all
            select w.gen, w.grp, w.after, w.place, x.lane, x.wrapped, w.n + 1
              from walk w
             cross join lateral (
                   (select j.lane, w.wrapped as wrapped from queue.jobs j
                     where j.gen = w.gen and j.queue = p_queue and j.state = 0 and j.grp = w.grp
                       and j.lane > w.lane and j.fence >= 0
                     order by j.lane limit 1)
                    union all
                   (select j.lane, true from queue.jobs j
                     where j.gen = w.gen and j.queue = p_queue and j.state = 0 and j.grp = w.grp and j.fence >= 0
                       and not w.wrapped
                     order by j.lane limit 1)
                    limit 1) x
             where w.n < v_window
               and not (x.wrapped and x.lane > w.after)
        ),
        merged as materialized (
            select m.place, m.lane, bit_or(1 << array_position(v_gens, m.gen)) as mask,
                   row_number() over (partition by m.place order by m.wrapped, m.lane) as n
              from walk m
             group by m.place, m.wrapped, m.lane
        ),
        all_met as materialized (
            select m.place, m.lane, m.mask, m.n::integer as n from merged m where m.n <= v_window
             union all
            select g.n::integer, g.grp, g.mask, 1
              from unnest(v_groups, v_owns, v_masks) with ordinality g (grp, is_own, mask, n)
             where g.is_own
        ),
        -- While older binaries enqueue, a lane may be in two groups. It is claimed from in one of them at a time.
        met as materialized (
            select a.*, row_number() over (partition by a.lane order by a.n, a.place) as turn from all_met a
        )
        select array_agg(m.lane), array_agg(m.place), array_agg(m.mask),
               array_agg(v_groups[m.place]) filter (where m.n >= v_window),
               array_agg(m.lane) filter (where m.n >= v_window),
               greatest(visited, count(*)::integer), exists (select from met m where m.turn > 1)
          from (select * from met m where m.turn = 1 order by m.n, m.place) m
          into v_lanes, v_lane_groups, v_lane_masks, v_cut_groups, v_cut_lanes, visited, v_is_split;
        if v_cut_groups is not null then
            visited := greatest(visited, p_window);
            more := true;
        end if;
    end if;

    -- One claim at a time per lane, for the same reason. Lanes whose hashes collide merely wait for each other. No more than 512:
    -- the server has some thousands of locks for everybody.
    with unpaused as materialized (
        select t.n, t.lane, t.place, t.mask, r.room
          from unnest(v_lanes, v_lane_groups, v_lane_masks) with ordinality t (lane, place, mask, n)
         cross join lateral (
               select case when v_groups[t.place] = t.lane or p_room is null then v_rooms[t.place]
                           else coalesce(p_lane_rooms[array_position(p_lanes, t.lane)],
                                         greatest(1, (v_rooms[t.place] + p_in_flight - p_lane_has + 1) / 2 - p_in_flight))
                      end as room
               offset 0) r
         where v_rooms[t.place] > 0 and r.room > 0
           and not coalesce((select l.paused_until > now() from queue.lanes l
                              where l.queue = p_queue and l.lane = t.lane), false)
    ),
    opened as materialized (
        select * from unpaused u order by u.n limit least(greatest(2 * p_limit, 8), 512)
    ),
    locked as materialized (
        select o.*, pg_try_advisory_xact_lock(hashtext(p_queue), uuid_hash(o.lane)) as got
          from opened o
    )
    select array_agg(k.lane) filter (where k.got), array_agg(k.place) filter (where k.got),
           array_agg(k.mask) filter (where k.got), array_agg(k.room) filter (where k.got),
           (array_agg(k.lane))[1], (array_agg(k.place))[1], (array_agg(k.mask))[1], (array_agg(k.room))[1],
           v_contended or coalesce(bool_or(not k.got), false) or count(*) < (select count(*) from unpaused),
           case when count(*) < (select count(*) from unpaused) then v_groups[max(k.place)] end
      from (select * from locked l order by l.n) k
      into v_lanes, v_lane_groups, v_lane_masks, v_lane_rooms,
           v_first_lane, v_first, v_first_mask, v_first_room, v_contended, v_last;
    next_group := coalesce(v_last, next_group);
    ring_groups := v_cut_groups;
    ring_lanes := v_cut_lanes;
    if v_lanes is null and v_first_lane is null then
        more := more or v_contended;
        return;
    end if;
    -- Every open lane is being claimed from by others: queue up for the first instead of spinning. Holders are claims too, which
    -- end by themselves, and nobody waits while holding a lane.
    if v_lanes is null then
        perform pg_advisory_xact_lock(hashtext(p_queue), uuid_hash(v_first_lane));
        v_lanes := array[v_first_lane];
        v_lane_groups := array[v_first];
        v_lane_masks := array[v_first_mask];
        v_lane_rooms := array[v_first_room];
    end if;

    v_taken := queue.live_generations();
    with room as materialized (
        select t.lane, t.place, t.mask, t.n, least(t.room, c.cap - r.jobs) as room,
               coalesce(c.cap - r.jobs <= t.room, false) as is_capped
          from unnest(v_lanes, v_lane_groups, v_lane_masks, v_lane_rooms)
               with ordinality t (lane, place, mask, room, n)
         cross join lateral (
               select coalesce((select l.cap from queue.lanes l
                                 where l.queue = p_queue and l.lane = t.lane), p_lane_cap) as cap
               offset 0) c
         cross join lateral (
               select case when c.cap is not null then
                          (select count(*) from queue.jobs r
                            where r.gen = any (v_taken) and r.queue = p_queue and r.state = 1 and r.lane = t.lane)
                      end as jobs
               offset 0) r
    ),
    even as materialized (
        select ceil(p_limit::float8 / greatest(count(distinct r.place), 1))::integer as share
          from room r
         where r.room > 0
    ),
    placed as materialized (
        select r.*, e.share as even, least(e.share, v_rooms[r.place]) as group_share,
               count(*) over (partition by r.place)::integer as lanes,
               row_number() over (partition by r.place order by r.n)::integer as nth
          from room r
         cross join even e
         where r.room > 0
    ),
    -- A group's share is divided among its lanes in turns; the last turn may not come to all.
    shared as materialized (
        select p.*,
               case when p.nth > p.group_share then 0 else (p.group_share - p.nth) / p.lanes + 1 end as share
          from placed p
    ),
    chosen as materialized (
        select x.place as row, x.rank, s.place,
               x.rank = s.share and s.share < s.room and s.even < v_rooms[s.place] as is_full_share,
               x.rank = s.room and s.is_capped as fills_cap
          from shared s
         cross join lateral (
               select i.place, row_number() over (order by i.priority desc, i.run_at, i.id) as rank
                 from unnest(v_gens) with ordinality e (gen, bit)
                cross join lateral (
                      select j.ctid as place, j.id, j.priority, j.run_at
                        from queue.jobs j
                       where j.gen = e.gen and j.queue = p_queue and j.state = 0
                         and j.grp = v_groups[s.place] and j.lane = s.lane
                         and j.fence >= 0 and j.format <= p_format
                       order by j.priority desc, j.run_at, j.id
                       limit least(s.share, s.room)) i
                where s.mask & (1 << e.bit::integer) <> 0
                order by i.priority desc, i.run_at, i.id
                limit least(s.share, s.room)) x
         where s.share > 0
         order by (x.rank - 1) * s.lanes + s.nth, s.place
         limit p_limit
    ),
    -- By their places in the table, which need not be looked up. A row that was moved meanwhile is left to the next claim,
    -- or taken where it is now, as the server's version has it; the lane's lock makes both right. The state is compared as an
    -- integer, or the planner could prefer to walk over the index of all due jobs.
    taken as (
        update queue.jobs j
           set state = 1, gen = v_young, locked_by = p_worker, fence = j.fence + 1, attempt = j.attempt + 1
         where j.ctid = any (array(select c.row from chosen c)) and j.state::integer = 0
        returning j.id, j.grp, j.lane, j.fence, j.attempt, j.max_attempts, j.priority, j.payload, j.run_at
    ),
    -- Not by rank: joining `chosen` again would be a nested loop, and the claimant takes turns itself.
    ordered as (
        select * from taken t order by t.priority desc, t.run_at, t.id
    )
    select array_agg(o.id), array_agg(o.grp), array_agg(o.lane), array_agg(o.fence), array_agg(o.attempt),
           array_agg(o.max_attempts), array_agg(o.payload::text),
           array_agg((date_part('epoch', clock_timestamp() - o.run_at) * 1000)::bigint),
           -- With fewer jobs than groups, the next claim starts behind the last group served.
           case when count(*) >= p_limit then (select max(c.place) from chosen c) end,
           coalesce((select bool_or(c.is_full_share) or count(*) > (select count(*) from taken) from chosen c), false)
               or exists (select from shared s where s.share = 0 and s.even < v_rooms[s.place]),
           capped or exists (select from room r where r.room <= 0 and r.is_capped)
               or exists (select from chosen c where c.fills_cap),
           -- With fewer jobs than lanes, a group's next turn begins behind the last lane served.
           (select array_agg(v_groups[s.place]) from shared s
             where s.lanes > s.group_share and s.nth = s.group_share
               and s.place <= (select max(c.place) from chosen c)),
           (select array_agg(s.lane) from shared s
             where s.lanes > s.group_share and s.nth = s.group_share
               and s.place <= (select max(c.place) from chosen c))
      from ordered o
      into ids, groups, lanes, fences, attempts, max_attempts, payloads, waited_ms, v_served, v_leftover, capped,
           v_cut_groups, v_cut_lanes;

    next_group := coalesce(v_groups[v_served], next_group);
    ring_groups := ring_groups || v_cut_groups;
    ring_lanes := ring_lanes || v_cut_lanes;
    more := more or v_leftover or v_contended or v_served is not null or (v_is_split and ids is not null);
end
$$;

-- For binaries that know neither groups nor formats: they are given jobs of format 0 only. They walk over groups, and begin with
-- the first lane of each.
create or replace function queue.claim(
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
) language sql as $$
    select c.ids, c.lanes, c.fences, c.attempts, c.max_attempts, c.payloads, c.waited_ms,
           c.next_group, c.visited, c.more, c.capped, c.next_due_ms
      from queue.claim(p_worker, p_queue, p_limit, p_cursor, p_window, p_cap, null, 0::smallint, p_is_deep => true) c
$$;

-- What a worker has claimed, by the table.
create or replace function queue.claimed_by(p_worker uuid) returns table (id bigint, fence integer)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
set jit = off
as $$
declare
    v_live integer[] := queue.live_generations();
begin
    return query
    select j.id, j.fence
      from queue.jobs j
     where j.state = 1 and j.gen = any (v_live) and uuid_cmp(j.locked_by, p_worker) = 0;
end
$$;
