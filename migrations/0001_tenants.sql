-- Tenants and what belongs to them: teams, sites, keys, rule groups, webhook endpoints.

create table teams (
    id uuid primary key,
    name text not null,
    created_at timestamptz not null default now()
);

create table rule_groups (
    id uuid primary key,
    team_id uuid not null references teams (id),
    name text not null,
    -- The version that judges new submissions.
    live_version_id uuid not null,
    created_at timestamptz not null default now(),
    constraint rule_groups_name_key unique (team_id, name)
);

-- Versions are never changed: a verdict names the version that judged it.
create table rule_group_versions (
    id uuid primary key,
    rule_group_id uuid not null references rule_groups (id) deferrable initially deferred,
    number integer not null,
    rules json not null,
    -- Whether any of its rules asks for scores: without, a submission skips the analysis.
    uses_ai boolean not null,
    created_at timestamptz not null default now(),
    constraint rule_group_versions_number_key unique (rule_group_id, number)
);

alter table rule_groups
add constraint rule_groups_live_version_fkey
foreign key (live_version_id) references rule_group_versions (id) deferrable initially deferred;

create table sites (
    id uuid primary key,
    team_id uuid not null references teams (id),
    name text not null,
    default_rule_group_id uuid not null references rule_groups (id),
    on_failure text not null default 'review'
    constraint sites_on_failure_check check (on_failure in ('review', 'reject', 'approve')),
    status_vocabulary text not null default 'state'
    constraint sites_status_vocabulary_check check (status_vocabulary in ('state', 'completed')),
    -- Sealed with the master key: key id, nonce and ciphertext.
    webhook_secret bytea not null,
    -- Counts every change of what a submission depends on: endpoints, groups, live versions. A submission is
    -- accepted only if it was prepared for the current revision.
    revision bigint not null default 1,
    created_at timestamptz not null default now(),
    constraint sites_name_key unique (team_id, name)
);

-- The groups that judge a site's submissions together. None: its default group.
create table site_rule_groups (
    site_id uuid not null references sites (id),
    rule_group_id uuid not null references rule_groups (id),
    primary key (site_id, rule_group_id)
);

create table site_keys (
    id uuid primary key,
    site_id uuid not null references sites (id),
    -- SHA-256 of the key; the key itself is stored nowhere.
    hash bytea not null,
    -- Its last four characters, for lists.
    hint text not null,
    created_at timestamptz not null default now(),
    disabled_at timestamptz,
    constraint site_keys_hash_key unique (hash)
);

create table management_tokens (
    id uuid primary key,
    team_id uuid not null references teams (id),
    hash bytea not null,
    hint text not null,
    scopes text [] not null,
    created_at timestamptz not null default now(),
    disabled_at timestamptz,
    constraint management_tokens_hash_key unique (hash)
);

create table webhook_endpoints (
    id uuid primary key,
    site_id uuid not null references sites (id),
    url text not null,
    -- The kinds of event it wants.
    events text [] not null
    constraint webhook_endpoints_events_check check (events <@ array['media.created', 'media.moderated']),
    created_at timestamptz not null default now(),
    disabled_at timestamptz,
    disabled_reason text
);

create index webhook_endpoints_site_id_idx on webhook_endpoints (site_id) where disabled_at is null;

-- One row: something sealed, by which a wrong master key is noticed at the start.
create table master_key_check (
    singleton boolean primary key default true check (singleton),
    sealed bytea not null
);

-- The revisions of sites are kept by the database, so that no statement can forget them.

create function bump_site_revision() returns trigger language plpgsql as $$
begin
    update sites set revision = revision + 1
    where id in (
        select new.site_id where tg_op <> 'DELETE'
        union all
        select old.site_id where tg_op <> 'INSERT'
    );
    return null;
end
$$;

create trigger webhook_endpoints_bump_site_revision
after insert or delete or update of url, events, disabled_at on webhook_endpoints
for each row execute function bump_site_revision();

create trigger site_rule_groups_bump_site_revision
after insert or update or delete on site_rule_groups
for each row execute function bump_site_revision();

-- A submission may name any group of its team, so a new live version concerns all sites of the team.
create function bump_team_revisions() returns trigger language plpgsql as $$
begin
    update sites set revision = revision + 1 where team_id = new.team_id;
    return null;
end
$$;

create trigger rule_groups_bump_team_revisions
after update of live_version_id on rule_groups
for each row execute function bump_team_revisions();

create function bump_own_revision() returns trigger language plpgsql as $$
begin
    new.revision := old.revision + 1;
    return new;
end
$$;

create trigger sites_bump_own_revision
before update of default_rule_group_id on sites
for each row execute function bump_own_revision();
