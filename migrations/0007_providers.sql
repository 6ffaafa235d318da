-- Providers: what is asked of them, for whom, and in what state they are.

-- The categories that a version's rules ask for, so that nobody is asked for what nobody wants to know. Empty beside
-- uses_ai: the version was published by a binary that did not tell, and any category may be wanted.
alter table rule_group_versions add column categories text [] not null default '{}';

update rule_group_versions
set
    categories = array(
        select distinct rule ->> 'category'
        from json_array_elements(rules) as r (rule)
        where rule ->> 'type' = 'ai_threshold' and coalesce((rule ->> 'enabled')::boolean, true)
    )
where uses_ai;

-- Whom a site's texts go to, in the order of its preference; null is the operator's order. And what models that judge by
-- a policy are told on its behalf; null is the operator's.
alter table sites
add column providers text [],
add column policy text,
add constraint sites_providers_check check (cardinality(providers) between 1 and 20),
add constraint sites_policy_check check (octet_length(policy) between 1 and 16384);

-- The providers that workers are configured with, as the workers tell, so that the interface knows them. Without
-- addresses and keys.
create table providers (
    name text primary key,
    kind text not null,
    -- What it can score.
    categories text [] not null,
    -- Its place in the operator's order.
    position integer not null,
    -- When a worker last told of it.
    seen_at timestamptz not null default now()
);

-- How it stands with each credential, for all workers together: a limit, and a circuit breaker. A credential without a
-- row is well.
create table provider_states (
    -- The provider's name, and a part of a hash of its address and key.
    credential text primary key,
    provider text not null,
    -- Until when it asked not to be asked.
    paused_until timestamptz,
    -- Failures since the last success, and how often the breaker opened since it was closed.
    failures integer not null default 0,
    openings integer not null default 0,
    -- Until when the breaker lets nobody ask; none while it is closed.
    open_until timestamptz,
    -- The lease of the process that alone asks whether it is well again.
    probe_until timestamptz,
    changed_at timestamptz not null default now()
);

-- What providers said of an item whose analysis is not complete, because another provider is paused or will be asked
-- again. The finished analysis takes these over.
create table analysis_parts (
    media_id uuid not null,
    provider text not null,
    -- Category to score; null if the provider failed for good.
    scores json,
    -- As in analyses.providers.
    report json not null,
    primary key (media_id, provider)
);
