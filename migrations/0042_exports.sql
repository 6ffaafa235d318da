-- Exports: what an archive of a site's data contains. The archive itself is never stored: it is built while it is read, one member
-- at a time.

create table exports (
    id uuid primary key,
    team_id uuid not null references teams (id),
    site_id uuid not null references sites (id),
    -- A member or a token; none from the command line.
    created_by uuid references actors (id),
    created_at timestamptz not null default now(),
    -- Items and rows of the audit log with smaller ids are in it. Ids of version 7 begin with the milliseconds since 1970.
    upto uuid not null,
    -- It cannot be read any more from then on.
    expires_at timestamptz not null default now() + interval '7 days'
);

-- A team's exports, the newest first, and how many it has.
create index exports_team_id_idx on exports (team_id, id);
-- What can be removed.
create index exports_expires_at_idx on exports (expires_at);
