-- Recoveries: what an endpoint has missed or lost is sent to it, slice by slice. And how long events are kept.

create table webhook_recoveries (
    id uuid primary key,
    endpoint_id uuid not null,
    -- The endpoint's.
    site_id uuid not null,
    team_id uuid not null,
    kind text not null
    constraint webhook_recoveries_kind_check check (kind in ('failed', 'delivered', 'missing')),
    -- Only events of this kind; none: of all that the endpoint is told.
    event text
    constraint webhook_recoveries_event_check check (event in ('media.created', 'media.moderated')),
    -- Only events that happened at `since` or later and before `until`.
    since timestamptz not null,
    until timestamptz not null,
    -- It begins when all that was being written at its creation is there.
    begins_after xid8 not null default pg_current_xact_id(),
    state text not null default 'running'
    constraint webhook_recoveries_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- Looked at so far: this delivery, or event where deliveries are missing, and all older ones.
    walked_to uuid,
    -- How many of them that were, and how many are on their way by it.
    looked_at bigint not null default 0,
    resent bigint not null default 0,
    created_by uuid references management_tokens (id),
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    -- Why it failed.
    error text,
    constraint webhook_recoveries_until_check check (since < until)
);

create index webhook_recoveries_endpoint_id_idx on webhook_recoveries (endpoint_id, id);

-- One at a time, so that none is sent twice by two of them.
create unique index webhook_recoveries_running_key on webhook_recoveries (endpoint_id) where state = 'running';

-- A site's events in the order of time.
create index events_site_idx on events (site_id, id);

alter table sites
-- How long events, deliveries that have ended and their attempts are kept.
add column webhook_retention_days integer not null default 30
constraint sites_webhook_retention_days_check check (webhook_retention_days between 1 and 365);
