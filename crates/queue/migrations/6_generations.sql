-- Generations: why a claim never walks over what is long done.
--
-- Every finished job leaves dead entries in the indexes of queue.jobs. While some transaction in the cluster holds
-- an old snapshot (a dump, a report, a forgotten session), vacuum may not remove them, and a claim would walk over
-- more of them each second. So the indexes that claims use begin with a generation, and claims look into the few
-- generations in which jobs can be: the young one, which all writers put jobs into, the old one, into
-- which the few that live long are moved, and for a moment the condemned one, which is being left. Dead
-- entries stay behind in generations that nobody looks into. This is what a generational garbage collector does,
-- with the key space of an index for its heap; it takes no lock on the table and needs nothing that a dump holds.
--
-- The number of the young generation is in a sequence, because it must be read outside of any snapshot. It is
-- only ever set by setval: nextval logs numbers ahead, so a crash would skip the generation that jobs are in.

create sequence queue.young as integer;
select setval('queue.young', 1);

-- No scheduled job is due before this, in microseconds of Unix time, but for transactions that commit late. A sequence,
-- because it is moved every few seconds, and versions of a row would stay behind.
create sequence queue.promoted_until;
select setval('queue.promoted_until', 1);

create table queue.generations (
    is_the_only_row boolean     not null default true,
    old             integer     not null,
    condemned       integer,
    condemned_at    timestamptz,
    -- Left and empty, but somebody who entered has not ended his transaction. Claims do not look here; the elected
    -- process does, once a second.
    held            integer[]   not null default '{}',
    -- Rows moved into `old`, and those that had been in it when it became that: no fewer than are dead in it now.
    moved           bigint      not null default 0,
    constraint generations_pkey primary key (is_the_only_row),
    constraint generations_one_row check (is_the_only_row)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into queue.generations (old) values (0);

-- The generation for rows that become due or running in this transaction. Until it ends, the generation
-- stays among those that claims look into: the lock says that somebody may still commit into it.
create function queue.enter_generation() returns integer language plpgsql as $$
declare
    v_young integer;
    v_now   integer := pg_sequence_last_value('queue.young');
begin
    loop
        v_young := v_now;
        perform pg_advisory_xact_lock_shared(hashtext('queue.young'), v_young);
        -- Condemned and closed before we had the lock? Then the next one.
        v_now := pg_sequence_last_value('queue.young');
        exit when v_now = v_young;
    end loop;
    return v_young;
end
$$;

-- The generations that due and running jobs are in. The sequence is read on either side of the snapshot of
-- the row, so that a generation condemned meanwhile is among them one way or the other.
create function queue.live_generations() returns integer[] language plpgsql as $$
declare
    v_before integer := pg_sequence_last_value('queue.young');
    v_live   integer[];
begin
    select array(
               select distinct u.gen
                 from unnest(array[v_before, g.old, g.condemned, pg_sequence_last_value('queue.young')::integer])
                      as u (gen)
                where u.gen is not null)
      into v_live
      from queue.generations g;
    return v_live;
end
$$;

-- Jobs that are there already are in the old generation. For scheduled and doomed jobs it means nothing.
alter table queue.jobs add column gen integer not null default 0;
alter table queue.jobs alter column gen set default queue.enter_generation();

drop index queue.jobs_due_idx;
drop index queue.jobs_running_idx;
create index jobs_due_idx on queue.jobs (gen, queue, lane, priority desc, run_at, id) where state = 0;
create index jobs_running_idx on queue.jobs (gen, queue, lane) where state = 1;

create or replace function queue.enqueue(
    queues       text[],
    lanes        uuid[],
    payloads     text[],
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
    insert into queue.jobs (queue, lane, payload, priority, max_attempts, state, run_at, gen)
    select n.queue, n.lane, n.payload::json, n.priority, n.max_attempts,
           case when n.delay_ms > 0 then 2 else 0 end,
           now() + n.delay_ms * interval '1 millisecond',
           v_gen
      from unnest(queues, lanes, payloads, priorities, delays_ms, max_attempts)
           as n (queue, lane, payload, priority, delay_ms, max_attempts);
    get diagnostics enqueued = row_count;
    return enqueued;
end
$$;

-- As in 3_claim.sql, in generations: the walk goes through each of them, and the lanes found are merged. A paused
-- queue has no lanes to walk over.
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
    v_young     integer;
    v_gens      integer[];
    v_taken     integer[];
    v_promoted  timestamptz;
    v_lanes     uuid[];
    v_masks     integer[];
    v_first     uuid;
    v_mask      integer;
    v_contended boolean;
    v_served    uuid;
    v_leftover  boolean;
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

    update queue.jobs j
       set state = 0, gen = v_young
     where j.id = any (array(
               select s.id
                 from queue.jobs s
                where s.queue = p_queue and s.state = 2 and s.run_at > v_promoted and s.run_at <= now()
                order by s.run_at
                limit 1000
                  for update skip locked));

    -- One walk a generation. `offset 0` keeps the planner from pulling the subqueries up and probing twice for
    -- each lane. The comparison of the fence is always true: it makes the probes read the rows, so that the
    -- server's statistics tell how many of the entries they meet are dead (queue/src/generations.rs).
    with recursive walk (gen, lane, wrapped, n) as (
        select e.gen, f.lane, f.lane <= p_cursor, 1
          from unnest(v_gens) e (gen)
         cross join lateral (
               select coalesce(
                    (select j.lane from queue.jobs j
                      where j.gen = e.gen and j.queue = p_queue and j.state = 0 and j.lane > p_cursor
                        and j.fence >= 0
                      order by j.lane limit 1),
                    (select j.lane from queue.jobs j
                      where j.gen = e.gen and j.queue = p_queue and j.state = 0
                        and j.fence >= 0
                      order by j.lane limit 1)) as lane
                offset 0) f
         where f.lane is not null
           and not exists (select from queue.queues q
                            where q.queue = p_queue and q.paused_until > now())
        union all
        select w.gen, x.lane, w.wrapped or x.lane <= w.lane, w.n + 1
          from walk w
         cross join lateral (
               select coalesce(
                    (select j.lane from queue.jobs j
                      where j.gen = w.gen and j.queue = p_queue and j.state = 0 and j.lane > w.lane
                        and j.fence >= 0
                      order by j.lane limit 1),
                    case when not w.wrapped then
                        (select j.lane from queue.jobs j
                          where j.gen = w.gen and j.queue = p_queue and j.state = 0
                            and j.fence >= 0
                          order by j.lane limit 1)
                    end) as lane
               offset 0) x
         where w.n < p_window
           and x.lane is not null
           -- Once round the ring is enough.
           and not ((w.wrapped or x.lane <= w.lane) and x.lane > p_cursor)
    ),
    -- In which generations a lane has jobs: a bit for each place in v_gens.
    merged as materialized (
        select m.lane, bit_or(1 << array_position(v_gens, m.gen)) as mask,
               row_number() over (order by m.wrapped, m.lane) as n
          from walk m
         group by m.wrapped, m.lane
         order by m.wrapped, m.lane
         limit p_window
    ),
    unpaused as materialized (
        select w.lane, w.mask, w.n,
               not coalesce((select l.paused_until > now() from queue.lanes l
                              where l.queue = p_queue and l.lane = w.lane), false) as is_open
          from merged w
    ),
    -- One claim at a time per lane, or two claims would both see room under its cap. Lanes whose hashes
    -- collide merely wait for each other.
    -- No more than 512: the server has some thousands of locks for everybody.
    opened as materialized (
        select * from unpaused u where u.is_open order by u.n limit least(greatest(2 * p_limit, 8), 512)
    ),
    locked as materialized (
        select u.lane, u.mask, u.n,
               pg_try_advisory_xact_lock(hashtext(p_queue), uuid_hash(u.lane)) as got
          from opened u
    )
    select (select array_agg(k.lane order by k.n) from locked k where k.got),
           (select array_agg(k.mask order by k.n) from locked k where k.got),
           (select k.lane from locked k order by k.n limit 1),
           (select k.mask from locked k order by k.n limit 1),
           exists (select from locked k where not k.got)
               or (select count(*) from unpaused u where u.is_open) > (select count(*) from opened),
           case when (select count(*) from unpaused u where u.is_open) > (select count(*) from opened)
                then (select u.lane from opened u order by u.n desc limit 1)
                else (select u.lane from unpaused u order by u.n desc limit 1) end,
           (select count(*) from unpaused)
      into v_lanes, v_masks, v_first, v_mask, v_contended, next_cursor, visited;

    -- Every open lane is being claimed from by others: queue up for the first instead of spinning. Holders
    -- are claims too, which end by themselves, and nobody waits while holding a lane.
    if v_lanes is null and v_first is not null then
        perform pg_advisory_xact_lock(hashtext(p_queue), uuid_hash(v_first));
        v_lanes := array[v_first];
        v_masks := array[v_mask];
    end if;

    -- What a claim that held these locks before took is in a generation that is live now.
    v_taken := queue.live_generations();
    -- A statement of its own: its snapshot is newer than the locks, so the counts under the caps are exact.
    with room as materialized (
        select t.lane, t.mask, t.n, c.cap is not null as has_cap,
               case when c.cap is null then p_limit
                    else c.cap - (select count(*) from queue.jobs r
                                   where r.gen = any (v_taken) and r.queue = p_queue and r.state = 1
                                     and r.lane = t.lane)
               end as room
          from unnest(v_lanes, v_masks) with ordinality t (lane, mask, n)
         cross join lateral (
               select coalesce((select l.cap from queue.lanes l
                                 where l.queue = p_queue and l.lane = t.lane), p_cap) as cap
               offset 0) c
    ),
    share as materialized (
        select greatest(1, ceil(p_limit::float8 / greatest(count(*), 1)))::bigint as k
          from room
         where room.room > 0
    ),
    chosen as materialized (
        select x.place, x.rank, r.lane, r.n,
               x.rank = share.k and share.k < r.room as is_full_share,
               x.rank = r.room and r.has_cap as fills_cap
          from share
         cross join room r
         cross join lateral (
               select i.place, row_number() over (order by i.priority desc, i.run_at, i.id) as rank
                 from unnest(v_gens) with ordinality e (gen, bit)
                cross join lateral (
                      select j.ctid as place, j.id, j.priority, j.run_at
                        from queue.jobs j
                       where j.gen = e.gen and j.queue = p_queue and j.state = 0 and j.lane = r.lane
                         and j.fence >= 0
                       order by j.priority desc, j.run_at, j.id
                       limit least(share.k, r.room)) i
                where r.mask & (1 << e.bit::integer) <> 0
                order by i.priority desc, i.run_at, i.id
                limit least(share.k, r.room)) x
         where r.room > 0
         order by x.rank, r.n
         limit p_limit
    ),
    -- By their places in the table, which need not be looked up. A row that was moved meanwhile is left to the next claim,
    -- or taken where it is now, as the server's version has it; the lane's lock makes both right. The state is compared as an integer, or the planner could prefer to walk over
    -- the index of all due jobs.
    taken as (
        update queue.jobs j
           set state = 1, gen = v_young, locked_by = p_worker, fence = j.fence + 1, attempt = j.attempt + 1
         where j.ctid = any (array(select c.place from chosen c)) and j.state::integer = 0
        returning j.id, j.lane, j.fence, j.attempt, j.max_attempts, j.priority, j.payload, j.run_at
    ),
    -- Not by rank: joining `chosen` again would be a nested loop, and the claimant takes turns itself.
    ordered as (
        select * from taken t order by t.priority desc, t.run_at, t.id
    )
    select array_agg(o.id), array_agg(o.lane), array_agg(o.fence), array_agg(o.attempt),
           array_agg(o.max_attempts), array_agg(o.payload::text),
           array_agg((date_part('epoch', clock_timestamp() - o.run_at) * 1000)::bigint),
           -- With fewer jobs than lanes, the next claim starts behind the last lane served.
           case when count(*) >= p_limit
                then (select c.lane from chosen c order by c.n desc limit 1) end,
           coalesce((select bool_or(c.is_full_share) or count(*) > (select count(*) from taken) from chosen c), false),
           exists (select from room r where r.room <= 0)
               or exists (select from chosen c where c.fills_cap)
      from ordered o
      into ids, lanes, fences, attempts, max_attempts, payloads, waited_ms, v_served, v_leftover, capped;

    next_cursor := coalesce(v_served, next_cursor, p_cursor);
    more := v_leftover or v_contended or visited >= p_window or v_served is not null;
    next_due_ms := (
        select greatest(0, ceil(extract(epoch from s.run_at - clock_timestamp()) * 1000))::bigint
          from queue.jobs s
         where s.queue = p_queue and s.state = 2 and s.run_at > v_promoted
         order by s.run_at
         limit 1);
end
$$;

-- The fence: takes the rows of finished jobs away that still carry this worker and the number of its claim, and
-- returns which those were. Rows are found by their ids alone, then joined by a hash, whatever is known of the
-- table: by its statistics, a worker younger than the last analyze holds no row, and an empty table can be scanned.
create function queue.finish(
    p_worker uuid,
    p_ids    bigint[],
    p_fences integer[],
    out ids         bigint[],
    out fences      integer[],
    out transaction bigint
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off set enable_mergejoin = off
set jit = off
as $$
begin
    with gone as (
        delete from queue.jobs j
         using unnest(p_ids, p_fences) as e (id, fence)
         where j.id = any (p_ids) and j.id = e.id and j.fence = e.fence and uuid_cmp(j.locked_by, p_worker) = 0
        returning j.id, j.fence
    )
    select coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.fence), '{}'),
           case when count(*) > 0 then pg_current_xact_id()::text::bigint end
      from gone g
      into ids, fences, transaction;
end
$$;

-- The same for jobs that live on: due again, scheduled, or doomed. A refund gives the attempt back; without a delay,
-- run_at stays as it was.
create function queue.keep(
    p_worker    uuid,
    p_ids       bigint[],
    p_fences    integer[],
    p_states    smallint[],
    p_refunds   smallint[],
    p_delays_ms bigint[],
    p_causes    text[],
    p_errors    text[],
    out ids         bigint[],
    out fences      integer[],
    out transaction bigint
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off set enable_mergejoin = off
set jit = off
as $$
declare
    v_young integer := queue.enter_generation();
begin
    with kept as (
        update queue.jobs j
           set state = e.state,
               gen = v_young,
               locked_by = null,
               attempt = j.attempt - e.refund,
               run_at = coalesce(now() + e.delay_ms * interval '1 millisecond', j.run_at),
               cause = e.cause,
               last_error = coalesce(e.error, j.last_error)
          from unnest(p_ids, p_fences, p_states, p_refunds, p_delays_ms, p_causes, p_errors)
               as e (id, fence, state, refund, delay_ms, cause, error)
         where j.id = any (p_ids) and j.id = e.id and j.fence = e.fence and uuid_cmp(j.locked_by, p_worker) = 0
        returning j.id, j.fence
    )
    select coalesce(array_agg(k.id), '{}'), coalesce(array_agg(k.fence), '{}'),
           case when count(*) > 0 then pg_current_xact_id()::text::bigint end
      from kept k
      into ids, fences, transaction;
end
$$;

-- What a worker has claimed, by the table.
create function queue.claimed_by(p_worker uuid) returns table (id bigint, fence integer)
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

-- Doomed jobs of a queue that may be buried now, locked for it.
create function queue.doomed(p_queue text, p_limit bigint)
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

-- Rewritten in place again and again, and read by every claim and every sweep: kept small.
alter table queue.lanes set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
