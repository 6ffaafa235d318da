-- Generations: in which part of the indexes jobs are. README.md explains them, and migrations/6_generations.sql has the tables.

-- The generation for rows that become due or running in this transaction. Until it ends, the generation
-- stays among those that claims look into: the lock says that somebody may still commit into it.
create or replace function queue.enter_generation() returns integer language plpgsql as $$
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
create or replace function queue.live_generations() returns integer[] language plpgsql as $$
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
