-- The indexes again.
do $$
declare
    definition text;
begin
    for definition in select i.definition from bench.indexes i loop
        execute definition;
    end loop;
end
$$;

-- From now on, everything is counted.
update statistics_progress
set counted_to = pg_snapshot_xmax(pg_current_snapshot()), unfinished = '{}', unfinished_since = '{}', reached_at = now(), ended_at = now();
