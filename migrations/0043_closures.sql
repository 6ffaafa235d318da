-- Closures: a site, or a team with all its sites, is disabled at once. For a grace, it can be exported and opened again. Then
-- everything that is stored of it is erased.

alter table teams
-- The closure that closes it, or has closed it. Null: it is open.
add column closure_id uuid,
-- Since when it cannot be opened again.
add column closed_at timestamptz;

alter table sites
-- The same of a site. No submission is accepted for it.
add column closure_id uuid,
add column closed_at timestamptz;

-- Submissions that were prepared before are prepared again, and refused.
create trigger sites_bump_revision_when_closed
before update of closure_id on sites
for each row
when (old.closure_id is distinct from new.closure_id)
execute function bump_own_revision();

alter table exports
-- The closure that has created it. It does not count among the exports that a team can have.
add column closure_id uuid;

create table closures (
    id uuid primary key,
    team_id uuid not null,
    -- Null: the whole team.
    site_id uuid,
    state text not null default 'running'
    constraint closures_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- In its first phase, a closure can be cancelled.
    phase text not null default 'grace'
    constraint closures_phase_check check (phase in ('grace', 'erase')),
    -- Steps that were done.
    walked_to bigint not null default 0,
    -- When the grace ends.
    erase_at timestamptz not null,
    -- What it waits for, beside the end of the grace and its own erasures.
    waits_for text
    constraint closures_waits_for_check check (waits_for in ('legal_hold', 'other_erasures', 'failed_erasure')),
    -- The second phase begins when all transactions up to this one have ended.
    erase_after xid8,
    -- A member or a token; none from the command line.
    created_by uuid,
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    -- Why it failed.
    error text
);

create index closures_team_id_idx on closures (team_id, id);

-- The sites that a closure closes. Those of a closure that was cancelled are removed.
create table closure_sites (
    closure_id uuid not null references closures (id) on delete cascade,
    site_id uuid not null,
    export_id uuid not null,
    erasure_id uuid,
    -- When the last of it was removed.
    closed_at timestamptz,
    constraint closure_sites_pkey primary key (closure_id, site_id)
);
