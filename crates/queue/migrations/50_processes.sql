-- What people call a process. Older versions insert their rows without it, so every column may be null.
alter table queue.workers
    add column host text,
    add column pid integer,
    add column role text,
    add column metrics_address text,
    add column version text,
    -- The most connections to Postgres that it opens.
    add column connections integer,
    -- What held back the jobs of each queue in the last seconds, and for which share of that time:
    -- {"analysis": {"team_share": 0.96}}.
    add column bounds jsonb;
