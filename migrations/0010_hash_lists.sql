-- Hash lists: pictures that are known, by their hashes; the files that they are filled from; what they matched.

create table hash_lists (
    id uuid primary key,
    -- Whose it is; none: it is shared, every team's rules may name it, and operators keep it.
    team_id uuid references teams (id),
    name text not null,
    description text not null,
    kind text not null
    constraint hash_lists_kind_check check (kind in ('deny', 'allow')),
    -- The most bits in which the PDQ of a picture that is on the list may differ.
    max_distance smallint not null
    constraint hash_lists_max_distance_check check (max_distance between 0 and 31),
    -- Counts the changes of its entries. Each has the revision that last changed it, so whoever knows a revision asks for
    -- what is newer. It is raised under the row's lock: who sees a revision sees all that is older.
    revision bigint not null default 0,
    -- Removed entries with this revision or an older one may be gone.
    swept_revision bigint not null default 0,
    -- How many entries it has.
    entries bigint not null default 0,
    created_by uuid references management_tokens (id),
    created_at timestamptz not null default now(),
    -- Its entries are removed afterwards, some at a time.
    deleted_at timestamptz
);

-- Of the shared ones, too, which belong to no team.
create unique index hash_lists_name_key on hash_lists (team_id, name) nulls not distinct where deleted_at is null;

-- Millions of rows: without foreign keys, because whoever adds one holds the lock of its list.
create table hash_entries (
    list_id uuid not null,
    id uuid not null,
    sha256 bytea
    constraint hash_entries_sha256_check check (octet_length(sha256) = 32),
    pdq bytea
    constraint hash_entries_pdq_check check (octet_length(pdq) = 32),
    -- What whoever added it says of it; may be empty.
    note text not null,
    -- The item whose image it is, if it was added from one.
    media_id uuid,
    -- The list's revision that added or removed it.
    revision bigint not null,
    -- By which token.
    added_by uuid,
    added_at timestamptz not null default clock_timestamp(),
    -- Kept for a while, so that whoever knows the list learns of it.
    removed_at timestamptz,
    constraint hash_entries_hash_check check (sha256 is not null or pdq is not null),
    primary key (list_id, id)
);

-- A hash stands on a list once. It is found by its PDQ here, from its first digits on,
create unique index hash_entries_key on hash_entries (list_id, pdq, sha256) nulls not distinct where removed_at is null;
-- and by its SHA-256 here.
create index hash_entries_sha256_idx on hash_entries (list_id, sha256)
where sha256 is not null and removed_at is null;
-- What is newer than a revision.
create index hash_entries_revision_idx on hash_entries (list_id, revision, id);
create index hash_entries_removed_at_idx on hash_entries (removed_at) where removed_at is not null;

-- Files of hashes that are read into lists, slice by slice.
create table hash_imports (
    id uuid primary key,
    list_id uuid not null references hash_lists (id),
    -- The list's team.
    team_id uuid,
    -- What hashes are that do not say it themselves.
    algorithm text not null
    constraint hash_imports_algorithm_check check (algorithm in ('sha256', 'pdq')),
    -- How much there is to read.
    total_lines bigint not null,
    chunks integer not null,
    state text not null default 'running'
    constraint hash_imports_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- The chunk that is read next, from 0.
    next_chunk integer not null default 0,
    -- What was read so far: all lines, and of these the hashes that were added, those that were there, the refused lines.
    lines bigint not null default 0,
    added bigint not null default 0,
    existing bigint not null default 0,
    refused bigint not null default 0,
    created_by uuid references management_tokens (id),
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    -- Why it failed.
    error text
);

create index hash_imports_list_id_idx on hash_imports (list_id, id);
create index hash_imports_running_idx on hash_imports (team_id) where state = 'running';

-- What is still to be read, in whole lines.
create table hash_import_chunks (
    import_id uuid not null references hash_imports (id) on delete cascade,
    number integer not null,
    -- The number of its first line in the file, from 1.
    first_line bigint not null,
    bytes bytea not null,
    primary key (import_id, number)
);

-- Lines that were refused, as far as they are listed.
create table hash_import_refusals (
    import_id uuid not null references hash_imports (id) on delete cascade,
    -- From 1.
    line bigint not null,
    reason text not null,
    primary key (import_id, line)
);

-- Which pictures are on which lists. Written when the picture is hashed, or by a scan.
create table image_matches (
    media_id uuid not null,
    list_id uuid not null,
    -- What being on the list meant then.
    kind text not null
    constraint image_matches_kind_check check (kind in ('deny', 'allow')),
    -- The nearest entry.
    entry_id uuid not null,
    algorithm text not null
    constraint image_matches_algorithm_check check (algorithm in ('sha256', 'pdq')),
    -- In how many bits picture and entry differ.
    distance smallint not null,
    -- The scan that found it; none: it was found before the item was judged.
    scan_id uuid,
    found_at timestamptz not null default clock_timestamp(),
    primary key (media_id, list_id)
);

-- Lists held against stored pictures, slice by slice.
create table hash_scans (
    id uuid primary key,
    list_id uuid not null references hash_lists (id),
    -- Whose items; none: those of all teams.
    team_id uuid references teams (id),
    -- Only entries with a newer revision; none: all.
    since_revision bigint,
    -- Only items accepted before this time, the newest first; and when the oldest of them was accepted.
    until timestamptz not null,
    oldest timestamptz,
    state text not null default 'running'
    constraint hash_scans_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- Looked at so far: this item, and all newer ones.
    walked_to uuid,
    -- How many images those were that have hashes, and how many of them are on the list.
    looked_at bigint not null default 0,
    matched bigint not null default 0,
    -- How many matches are listed.
    listed bigint not null default 0,
    created_by uuid references management_tokens (id),
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    -- Why it failed.
    error text
);

create index hash_scans_list_id_idx on hash_scans (list_id, id);

-- One at a time: it is nothing but computing, and what is submitted now goes first.
create unique index hash_scans_running_key on hash_scans (list_id, team_id) nulls not distinct where state = 'running';

-- What a scan found, as far as it is listed, whether it was known before or not.
create table hash_scan_matches (
    scan_id uuid not null references hash_scans (id) on delete cascade,
    media_id uuid not null,
    entry_id uuid not null,
    algorithm text not null,
    distance smallint not null,
    primary key (scan_id, media_id)
);

-- The lists that rules name, so that none is deleted under them.
alter table rule_group_versions add column hash_lists uuid [] not null default '{}';
alter table rule_groups add column draft_hash_lists uuid [] not null default '{}';

create index rule_group_versions_hash_lists_idx on rule_group_versions using gin (hash_lists);
create index rule_groups_draft_hash_lists_idx on rule_groups using gin (draft_hash_lists);
