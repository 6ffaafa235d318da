-- Plans, subscriptions and what is counted against them.

create table plans (
    id uuid primary key,
    name text not null,
    -- Submissions of a team in a billing period; null is no limit.
    submissions_per_period bigint
    constraint plans_submissions_per_period_check check (submissions_per_period >= 0),
    -- Of each site key in each UTC minute.
    submissions_per_minute integer not null default 1000
    constraint plans_submissions_per_minute_check check (submissions_per_minute between 1 and 1000000),
    status_queries_per_minute integer not null default 2000
    constraint plans_status_queries_per_minute_check check (status_queries_per_minute between 1 and 1000000),
    created_at timestamptz not null default now(),
    constraint plans_name_key unique (name)
);

create table subscriptions (
    team_id uuid primary key references teams (id),
    plan_id uuid not null references plans (id),
    state text not null default 'active'
    constraint subscriptions_state_check check (state in ('active', 'past_due', 'cancelled')),
    -- The billing periods are the UTC months from here on.
    started_at timestamptz not null default now(),
    -- Since when it is past due: for seven more days submissions are accepted.
    past_due_since timestamptz,
    created_at timestamptz not null default now(),
    constraint subscriptions_past_due_since_check check ((past_due_since is not null) = (state = 'past_due'))
);

-- Accepted submissions of each team in each billing period.
create table usage (
    team_id uuid not null,
    period_start timestamptz not null,
    submissions bigint not null,
    -- The plan's, at the last booking; null is no limit.
    quota bigint,
    -- How many of the last booking were within the quota: what the booking statement returns.
    granted bigint not null,
    primary key (team_id, period_start)
)
-- Updated by every batch; the room keeps that within the page.
with (fillfactor = 50);

-- When the billing period began that `at` falls into. The anchor's day of the month is kept: from 31 January the periods
-- begin on 28 February, 31 March, 30 April.
create function billing_period(started_at timestamptz, at timestamptz, shift integer default 0)
-- Not in SQL: such a function of more than an expression is parsed and planned anew by every statement that calls it.
returns timestamptz language plpgsql immutable parallel safe as $$
declare
    anchor timestamp := started_at at time zone 'utc';
    present timestamp := billing_period.at at time zone 'utc';
    passed integer := (extract(year from present) - extract(year from anchor)) * 12
    + extract(month from present) - extract(month from anchor);
begin
    if anchor + make_interval(months => passed) > present then
        passed := passed - 1;
    end if;
    return (anchor + make_interval(months => passed + shift)) at time zone 'utc';
end
$$;

-- A site may want less than its team's plan allows; null is what the plan says.
alter table sites
add column submissions_per_minute integer
constraint sites_submissions_per_minute_check check (submissions_per_minute between 1 and 1000000),
add column status_queries_per_minute integer
constraint sites_status_queries_per_minute_check check (status_queries_per_minute between 1 and 1000000);

-- What has been given out of each limit in the minute that was last asked for. Processes take shares and give back what
-- others need more (store/src/rate.rs).
create table rate_windows (
    site_key_id uuid not null,
    policy text not null
    constraint rate_windows_policy_check check (policy in ('submit', 'status')),
    minute timestamptz not null,
    -- The limit in force when somebody last asked, how many he wanted at once, and the share that he got.
    allowed integer not null,
    wanted integer not null,
    share integer not null,
    -- All shares of the minute, without what was given back.
    given integer not null
    constraint rate_windows_given_check check (given >= 0),
    -- Once somebody wanted more than was left: from then on nobody gets more than he needs at that moment.
    scarce boolean not null,
    -- Processes that may hold a part of their share unspent.
    holders uuid [] not null,
    primary key (site_key_id, policy)
)
-- Updated by every share; the room keeps that within the page.
with (fillfactor = 50);

-- The share of one who wants `wanted` at once while `rest` is left: an eighth of the rest, so that he need not ask again
-- soon, unless it is scarce.
create function rate_share(rest integer, wanted integer, scarce boolean) returns integer
language sql immutable parallel safe
return least(rest, case when scarce then wanted else greatest(wanted, rest / 8) end);

-- Which requests of a site were accepted under which Idempotency-Key.
create table idempotency_keys (
    site_id uuid not null,
    key text not null,
    -- SHA-256 of the parsed request.
    fingerprint bytea not null,
    media_id uuid not null,
    created_at timestamptz not null default now(),
    primary key (site_id, key)
);

-- Rows come in the order of time, so this tells where the old ones are at nearly no cost.
create index idempotency_keys_created_at_idx on idempotency_keys using brin (created_at);

-- Who was there before there were plans keeps everything.
insert into plans (id, name) values ('01990000-0000-7000-8000-000000000001', 'Unlimited');

insert into subscriptions (team_id, plan_id, started_at)
select id, '01990000-0000-7000-8000-000000000001', date_trunc('month', created_at, 'utc') from teams;
