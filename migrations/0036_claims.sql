-- no-transaction
-- A claim of reviews writes no index. The column leased_by was indexed, so every claim wrote a new entry into each index of
-- review_tasks: 19 kB of WAL, and 6 kB without that index. Which reviews a person has is now listed in a small table.
--
-- Two transactions: the second one waits until nobody uses review_tasks, and nothing waits behind the work of the first. If the
-- second one fails, all of this runs again, so every statement can run twice.

begin;

-- Which reviews somebody may have. review_tasks says whether it is so: a review that the person has is listed here, and some that
-- are listed are not the person's any more.
create table if not exists review_leases (
    -- A member or a token.
    actor_id uuid primary key,
    review_ids uuid [] not null
)
-- Room for updates in place.
with (fillfactor = 50);

-- Locks the list of what somebody has, until the end of the transaction. review_tasks must be read after that, because a claim of
-- the same person at the same time changes both.
create or replace function lock_leases(actor uuid) returns void language plpgsql as $$
begin
    perform from review_leases l where l.actor_id = actor for no key update;
    if not found then
        insert into review_leases (actor_id, review_ids) values (actor, '{}') on conflict do nothing;
        perform from review_leases l where l.actor_id = actor for no key update;
    end if;
end
$$;

-- Adds reviews to those that somebody may have, and removes the ones that the person does not have any more. A lease that is over
-- can be renewed until somebody else takes the review, but for an hour at most.
create or replace function list_leases(actor uuid, reviews uuid []) returns void language plpgsql as $$
begin
    perform lock_leases(actor);
    update review_leases l
    set review_ids = array(
        select t.id
        from unnest(l.review_ids) listed(id)
        join review_tasks t on t.id = listed.id
        where t.leased_by = actor and t.leased_at > clock_timestamp() - interval '2 hours' and t.id <> all(reviews)
    ) || reviews
    where l.actor_id = actor;
end
$$;

-- As before, and the reviews are listed. The settings make Postgres read the index in order. Do not force a generic plan: without
-- knowing how few rows are wanted, Postgres chose one that took seconds with 200,000 reviews.
create or replace function claim_reviews(
    actor uuid, of_team uuid, of_tier smallint, of_sites uuid [], most bigint, lease interval
)
returns setof uuid language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    claimed uuid [];
begin
    with picked as (
        select t.id
        from review_tasks t
        where
            t.team_id = of_team and t.tier = of_tier and t.held_until is null
            and (t.leased_until is null or t.leased_until <= clock_timestamp())
            and actor <> all(t.not_for) and (t.only_for is null or t.only_for = actor)
            and (of_sites is null or t.site_id = any(of_sites))
        order by t.severity desc, t.due_at, t.id
        limit most
        for no key update skip locked
    ),
    leased as (
        update review_tasks t
        set leased_by = actor, leased_at = clock_timestamp(), leased_until = clock_timestamp() + lease
        from picked
        where t.id = picked.id
        returning t.id
    )
    select array_agg(l.id) into claimed from leased l;
    if claimed is not null then
        perform list_leases(actor, claimed);
    end if;
    return query select unnest(claimed);
end
$$;

-- The reviews that somebody has in a team, the first one first, and then the most urgent ones of these tiers, in their order, until
-- there are `most`. Those become the person's. Two claims of a person at once take no more than one.
create or replace function take_reviews(
    actor uuid, of_team uuid, of_tiers smallint [], of_sites uuid [], most bigint, lease interval
)
returns table (review uuid, is_new boolean) language plpgsql as $$
declare
    taken uuid [];
    claimed uuid [];
    of_tier smallint;
begin
    perform lock_leases(actor);
    taken := array(
        select t.id
        from review_leases l
        cross join unnest(l.review_ids) listed(id)
        join review_tasks t on t.id = listed.id
        where
            l.actor_id = actor and t.leased_by = actor and t.team_id = of_team and t.leased_until > clock_timestamp()
            and t.held_until is null
        order by t.leased_at, t.id
        limit most
    );
    return query select t.id, false from unnest(taken) t(id);
    foreach of_tier in array of_tiers loop
        exit when cardinality(taken) >= most;
        claimed := array(
            select c.id from claim_reviews(actor, of_team, of_tier, of_sites, most - cardinality(taken), lease) c(id)
        );
        taken := taken || claimed;
        return query select t.id, true from unnest(claimed) t(id);
    end loop;
end
$$;

commit;

begin;

-- What people have now. An older process lists what it claims from now on, because the function does.
insert into review_leases (actor_id, review_ids)
select t.leased_by, array_agg(t.id)
from review_tasks t
where t.leased_by is not null
group by t.leased_by
on conflict (actor_id) do update set review_ids = (
    select array_agg(distinct listed.id) from unnest(review_leases.review_ids || excluded.review_ids) listed(id)
);

-- Older processes find what a person has more slowly without it.
drop index if exists review_tasks_leased_by_idx;

commit;
