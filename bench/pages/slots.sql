-- Which kind an item is of, by a number from 0 on. -1 is the kind of a single item.
create table bench.slots as
select row_number() over (order by k.number) - 1 as slot, k.number as kind
from bench.kinds k, generate_series(1, k.share)
where k.share > 0
union all
select -1, number from bench.kinds where share = 0;
