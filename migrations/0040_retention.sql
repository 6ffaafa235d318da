-- The removal of items and of contents goes on where it ended, with a bounded number of items at a time. What had to stay is listed
-- with a time at which to look again. These tables replace content_walks and content_stragglers, which an older binary may still use:
-- a later migration drops them. What they say is not needed, because an item whose content is gone is not listed.

-- How far each site was looked through.
create table retention_walks (
    site_id uuid not null,
    kind text not null
    constraint retention_walks_kind_check check (kind in ('items', 'contents', 'events')),
    -- Items or events up to this one were looked at. Items that had to stay are listed below. Events are looked at again from the
    -- beginning when the end was reached, and then they have no row here.
    walked_to uuid not null,
    primary key (site_id, kind)
);

-- Items that had to stay, or that keep their content, when they were looked at.
create table retention_stragglers (
    site_id uuid not null,
    kind text not null
    constraint retention_stragglers_kind_check check (kind in ('items', 'contents')),
    media_id uuid not null,
    -- When to look at it again,
    due_at timestamptz not null,
    -- and how long to wait after that.
    pause interval not null,
    primary key (site_id, kind, media_id)
);

create index retention_stragglers_due_at_idx on retention_stragglers (site_id, kind, due_at);

-- While a hold is in force, nothing is removed of what it names: a site, an item, or the items of an author.
create table legal_holds (
    id uuid primary key,
    team_id uuid not null references teams (id),
    site_id uuid not null references sites (id),
    -- Neither an item nor an author: all of the site.
    media_id uuid,
    author text
    constraint legal_holds_author_check check (char_length(author) between 1 and 200),
    reason text not null,
    -- A member or a token; null: an operator at the command line.
    created_by uuid,
    created_at timestamptz not null default now(),
    -- Null: in force.
    lifted_at timestamptz,
    constraint legal_holds_of_one_thing_check check (media_id is null or author is null)
);

create index legal_holds_team_id_idx on legal_holds (team_id, id);
-- Which items are held.
create index legal_holds_site_id_idx on legal_holds (site_id, media_id, author) where lifted_at is null;

-- Whether a hold keeps an item.
create function is_held(site uuid, item uuid, author text) returns boolean language sql stable as $$
    select
        exists (
            select
            from legal_holds h
            where h.site_id = $1 and h.media_id is null and h.author is null and h.lifted_at is null
        )
        or exists (select from legal_holds h where h.site_id = $1 and h.media_id = $2 and h.lifted_at is null)
        or exists (
            select
            from legal_holds h
            where h.site_id = $1 and h.media_id is null and h.author = $3 and h.lifted_at is null
        )
$$;
