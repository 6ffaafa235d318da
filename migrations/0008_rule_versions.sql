-- Rule groups are edited as drafts, published as versions, rolled back, and tried: in the shadow of the live version, and
-- over what was judged before.

alter table rule_groups
-- What is being edited; none while that is the live version.
add column draft json,
-- Counts every change of what the draft shows, so that nobody overwrites what somebody else edited meanwhile.
add column draft_revision bigint not null default 1,
-- Judges beside the live version, without effect.
add column shadow_version_id uuid,
-- Versions are named by verdicts, so groups are never deleted.
add column disabled_at timestamptz,
add constraint rule_groups_shadow_version_fkey
foreign key (shadow_version_id) references rule_group_versions (id);

-- A deleted group's name is free again.
alter table rule_groups drop constraint rule_groups_name_key;
create unique index rule_groups_name_key on rule_groups (team_id, name) where disabled_at is null;

-- A deleted group must not be named by submissions any more.
drop trigger rule_groups_bump_team_revisions on rule_groups;
create trigger rule_groups_bump_team_revisions
after update of live_version_id, disabled_at on rule_groups
for each row
when (old.live_version_id <> new.live_version_id or old.disabled_at is distinct from new.disabled_at)
execute function bump_team_revisions();

alter table rule_group_versions
-- What its author says of it.
add column note text not null default '',
-- By which token it was made; none from the command line.
add column created_by uuid references management_tokens (id);

-- Which version was live from when.
create table rule_group_publications (
    id uuid primary key,
    rule_group_id uuid not null references rule_groups (id),
    version_id uuid not null references rule_group_versions (id),
    -- By which token; none from the command line.
    published_by uuid references management_tokens (id),
    published_at timestamptz not null default now()
);

create index rule_group_publications_rule_group_id_idx on rule_group_publications (rule_group_id, id);

insert into rule_group_publications (id, rule_group_id, version_id, published_at)
select v.id, g.id, v.id, v.created_at
from rule_groups g
join rule_group_versions v on v.id = g.live_version_id;

create index site_rule_groups_rule_group_id_idx on site_rule_groups (rule_group_id);
create index sites_default_rule_group_id_idx on sites (default_rule_group_id);

-- What versions said in the shadow of the live one. Written with every verdict of their groups, so without foreign keys,
-- and in several rows, one for each connection that writes, so that none waits for another.
create table shadow_counts (
    version_id uuid not null,
    slot smallint not null,
    live_status text not null,
    shadow_status text not null,
    -- Whether a rule of the shadow asked for a score that was not there.
    unscored boolean not null,
    items bigint not null,
    primary key (version_id, slot, live_status, shadow_status, unscored)
)
with (fillfactor = 50);

-- The items about which a shadow differed.
create table shadow_differences (
    version_id uuid not null,
    media_id uuid not null,
    live_status text not null,
    shadow_status text not null,
    judged_at timestamptz not null default clock_timestamp(),
    primary key (version_id, media_id)
);

-- Rows come in the order of time, so this tells where the old ones are at nearly no cost.
create index shadow_differences_judged_at_idx on shadow_differences using brin (judged_at) with (autosummarize = on);

-- Rules replayed over items that were judged before.
create table backtests (
    id uuid primary key,
    team_id uuid not null references teams (id),
    rule_group_id uuid not null references rule_groups (id),
    -- The version that is replayed; none: the draft as it was.
    version_id uuid references rule_group_versions (id),
    rules json not null,
    -- Only items of this site; the group judges them even where it did not.
    site_id uuid references sites (id),
    -- Only items accepted at this time or later,
    since timestamptz,
    -- and before this one.
    until timestamptz not null,
    -- How many items are looked at, at most, the newest first; and how many there are of these.
    item_limit bigint not null,
    total bigint not null,
    state text not null default 'running'
    constraint backtests_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- Looked at so far: this item, and all newer ones.
    walked_to uuid,
    looked_at bigint not null default 0,
    -- Of these, those that could not be judged, or need not:
    of_other_groups bigint not null default 0,
    undecided bigint not null default 0,
    without_content bigint not null default 0,
    without_scores bigint not null default 0,
    -- Those of which the verdict would be another, and how many of them are listed.
    changed bigint not null default 0,
    listed bigint not null default 0,
    created_by uuid references management_tokens (id),
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    -- Why it failed.
    error text
);

create index backtests_rule_group_id_idx on backtests (rule_group_id, id);

-- A team has one at a time: what is submitted now goes first.
create unique index backtests_running_key on backtests (team_id) where state = 'running';

-- What became of the items that were judged: what the machine said at the time, what it would say, and what a person
-- decided.
create table backtest_counts (
    backtest_id uuid not null references backtests (id) on delete cascade,
    old_status text not null,
    new_status text not null,
    decided text not null
    constraint backtest_counts_decided_check check (decided in ('nobody', 'approved', 'rejected')),
    items bigint not null,
    primary key (backtest_id, old_status, new_status, decided)
);

-- The items of which the verdict would be another, as far as they are listed.
create table backtest_changes (
    backtest_id uuid not null references backtests (id) on delete cascade,
    media_id uuid not null,
    old_status text not null,
    new_status text not null,
    decided text not null,
    -- The rules that the item would violate.
    rule_ids uuid [] not null,
    primary key (backtest_id, media_id)
);
