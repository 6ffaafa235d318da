-- Events and their way to the endpoints.

create table events (
    id uuid primary key,
    media_id uuid not null,
    site_id uuid not null,
    kind text not null
    constraint events_kind_check check (kind in ('media.created', 'media.moderated')),
    -- The verdict that a media.moderated event tells.
    verdict smallint,
    occurred_at timestamptz not null default now(),
    constraint events_verdict_check check ((verdict is not null) = (kind = 'media.moderated'))
);

create table deliveries (
    id uuid primary key,
    event_id uuid not null,
    endpoint_id uuid not null,
    state text not null default 'pending'
    constraint deliveries_state_check check (state in ('pending', 'delivered', 'exhausted', 'discarded')),
    attempts smallint not null default 0,
    -- When the next attempt is due; none when it ended.
    next_attempt_at timestamptz default now(),
    created_at timestamptz not null default now(),
    ended_at timestamptz
)
with (fillfactor = 85);

-- Every attempt, what it sent to and what came back.
create table delivery_attempts (
    delivery_id uuid not null,
    number smallint not null,
    started_at timestamptz not null,
    duration_ms integer not null,
    -- How it ended: delivered, status, timeout, connect, tls, refused, ...
    outcome text not null,
    status_code smallint,
    -- The first 16 KiB of the answer.
    response_body bytea,
    primary key (delivery_id, number)
);
