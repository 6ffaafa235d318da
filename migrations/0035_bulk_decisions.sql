-- Bulk decisions: a lead decides about many reviews of the desk at once. A chain of jobs holds the decisions, slice by slice.

create table bulk_decisions (
    id uuid primary key,
    team_id uuid not null,
    ruling text not null
    constraint bulk_decisions_ruling_check check (ruling in ('approve', 'reject')),
    policy_id uuid,
    reason text not null
    constraint bulk_decisions_reason_check check (char_length(reason) between 1 and 1000),
    -- The filter that chose the reviews. Null: they were named.
    filter json,
    -- The reviews, chosen at the creation, so that nothing is decided that came later. Empty when the chain has ended.
    review_ids uuid []
    not null
    constraint bulk_decisions_review_ids_check check (cardinality(review_ids) <= 10000),
    -- Only items of these sites. Null: of all.
    sites uuid [],
    total integer not null,
    state text not null default 'running'
    constraint bulk_decisions_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- How many of the reviews were looked at, in their order.
    walked_to integer not null default 0,
    -- How many decisions were made, how many reviews were left to others, and how many decisions were undone before they were told.
    done integer not null default 0,
    skipped integer not null default 0,
    undone integer not null default 0,
    created_by uuid not null,
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    -- Why it failed.
    error text
);

create index bulk_decisions_team_id_idx on bulk_decisions (team_id, id);

-- One at a time.
create unique index bulk_decisions_running_key on bulk_decisions (team_id) where state = 'running';

-- The bulk decision that an opinion belongs to. Null: somebody looked at that review alone.
alter table review_opinions
add column bulk_id uuid;

create index review_opinions_bulk_id_idx on review_opinions (bulk_id, task_id) where bulk_id is not null and outcome is null;
