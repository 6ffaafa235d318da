-- Checkpoints: a running job records an effect and goes on.

-- Gives the jobs that still carry this worker and the number of its claim the next number, and returns the old numbers of
-- those. They stay running. The new number is what makes a checkpoint happen once: a second try finds the old one gone.
create function queue.checkpoint(
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
