-- How runs end and go on: each statement changes only the rows that still carry the worker and the number of its claim.

-- The fence: takes the rows of finished jobs away that still carry this worker and the number of its claim, and
-- returns which those were. Rows are found by their ids alone, then joined by a hash, whatever is known of the
-- table: by its statistics, a worker younger than the last analyze holds no row, and an empty table can be scanned.
create or replace function queue.finish(
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
create or replace function queue.keep(
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

-- Gives the jobs that still carry this worker and the number of its claim the next number, and returns the old numbers of
-- those. They stay running. The new number is what makes a checkpoint happen once: a second try finds the old one gone.
create or replace function queue.checkpoint(
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
    with reached as (
        update queue.jobs j
           set fence = j.fence + 1
          from unnest(p_ids, p_fences) as e (id, fence)
         where j.id = any (p_ids) and j.id = e.id and j.fence = e.fence and uuid_cmp(j.locked_by, p_worker) = 0
        returning j.id, e.fence
    )
    select coalesce(array_agg(r.id), '{}'), coalesce(array_agg(r.fence), '{}'),
           case when count(*) > 0 then pg_current_xact_id()::text::bigint end
      from reached r
      into ids, fences, transaction;
end
$$;

-- The fence for a batch in which jobs end, live on, and go on, in one round trip. What each part does is told with its function.
create or replace function queue.settle(
    p_worker         uuid,
    p_done           bigint[],
    p_done_fences    integer[],
    p_running        bigint[],
    p_running_fences integer[],
    p_kept           bigint[],
    p_kept_fences    integer[],
    p_states         smallint[],
    p_refunds        smallint[],
    p_delays_ms      bigint[],
    p_causes         text[],
    p_errors         text[],
    out ids         bigint[],
    out fences      integer[],
    out transaction bigint
) language plpgsql as $$
declare
    v_done    record;
    v_running record;
    v_kept    record;
begin
    ids := '{}';
    fences := '{}';
    if cardinality(p_done) > 0 then
        select * from queue.finish(p_worker, p_done, p_done_fences) into v_done;
        ids := v_done.ids;
        fences := v_done.fences;
        transaction := v_done.transaction;
    end if;
    if cardinality(p_running) > 0 then
        select * from queue.checkpoint(p_worker, p_running, p_running_fences) into v_running;
        ids := ids || v_running.ids;
        fences := fences || v_running.fences;
        transaction := coalesce(transaction, v_running.transaction);
    end if;
    if cardinality(p_kept) > 0 then
        select * from queue.keep(p_worker, p_kept, p_kept_fences, p_states, p_refunds, p_delays_ms, p_causes, p_errors)
          into v_kept;
        ids := ids || v_kept.ids;
        fences := fences || v_kept.fences;
        transaction := coalesce(transaction, v_kept.transaction);
    end if;
end
$$;
