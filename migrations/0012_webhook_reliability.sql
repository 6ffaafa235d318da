-- Webhooks that receivers and owners can rely on: secrets that rotate with an overlap, endpoints with headers and a limit of
-- their own, and what is known of how an endpoint fares.

-- The secret that signs from a time on. From then webhook_secret is the one before it, which signs beside it for a day.
alter table sites
add column next_webhook_secret bytea,
add column next_webhook_secret_at timestamptz,
add constraint sites_next_webhook_secret_check
check ((next_webhook_secret is null) = (next_webhook_secret_at is null));

alter table webhook_endpoints
add column description text,
-- Headers that its owner wants on every request, sealed: they may hold credentials.
add column headers bytea,
-- Requests a second; none: as many as there are.
add column max_per_second integer,
add constraint webhook_endpoints_description_check check (char_length(description) between 1 and 200),
add constraint webhook_endpoints_max_per_second_check check (max_per_second between 1 and 10000);

-- How it stands with an endpoint, for all workers together: apart from webhook_endpoints, whose changes are those of its
-- owner. An endpoint without a row is well.
create table webhook_endpoint_states (
    endpoint_id uuid primary key,
    -- The first failure after the last success; none when the last attempt succeeded.
    failing_since timestamptz,
    -- The circuit breaker: failures since the last success, and how often it opened since it was closed.
    failures integer not null default 0,
    openings integer not null default 0,
    -- Until when nobody sends; none while it is closed.
    open_until timestamptz,
    -- The lease of the process that alone sends to see whether the endpoint is well again.
    probe_until timestamptz,
    -- The last second in which something was sent to an endpoint with a limit, and how much.
    second timestamptz,
    sent integer not null default 0
)
-- Rewritten in place again and again.
with (fillfactor = 50);

alter table delivery_attempts
-- Where it went: an endpoint may have moved since.
add column url text,
-- Why there was no answer, in words for the endpoint's owner.
add column error text;

-- An ended delivery that is sent again begins its schedule anew after this many attempts.
alter table deliveries
add column earlier_attempts smallint not null default 0;

-- What an owner recovers: deliveries that ended without success. Nothing is written here while all is well.
create index deliveries_failed_idx on deliveries (endpoint_id, id) where state in ('exhausted', 'discarded');
