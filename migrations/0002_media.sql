-- Submitted items and what became of them.
--
-- The tables that every submission writes to have no foreign keys to tenants: the accepting statement joins the tenants
-- and so proves them, while a foreign key would lock the same site row for every item of a busy site. Tenants are
-- disabled, never deleted.

create table media (
    id uuid primary key,
    team_id uuid not null,
    site_id uuid not null,
    status text not null default 'pending'
    constraint media_status_check check (status in ('pending', 'approved', 'rejected', 'pending_review')),
    content_type text not null
    constraint media_content_type_check check (content_type in ('image', 'text')),
    app_media_id text,
    body text,
    content_url text,
    -- json, not jsonb: echoed with the same order, spacing and number spelling.
    metadata json,
    -- The versions that were live at acceptance: they judge the item, whatever is published meanwhile.
    group_versions uuid [] not null,
    -- The number of the verdict in force; none while pending.
    verdict smallint,
    created_at timestamptz not null default now()
)
-- Each row is updated once, by its verdict; the room lets that happen within the page, without touching an index.
with (fillfactor = 85);

-- Inline images, apart from media, so that a verdict's update does not move them.
create table media_images (
    media_id uuid primary key,
    format text not null
    constraint media_images_format_check check (format in ('jpeg', 'png', 'gif', 'webp')),
    bytes bytea not null
);
-- Images are compressed already.
alter table media_images alter column bytes set storage external;

-- What the providers said, one row an item.
create table analyses (
    media_id uuid primary key,
    -- Category to score, merged over providers and parts; null when no provider ran.
    scores json,
    -- Per provider: its own categories and scores, duration.
    providers json not null,
    -- What could not be checked, and why.
    unchecked json not null,
    created_at timestamptz not null default now()
);

-- Every decision about an item, in order; the first is the machine's. Append-only: a guard of its own, since two
-- decisions with one number cannot both exist.
create table verdicts (
    media_id uuid not null,
    number smallint not null,
    status text not null
    constraint verdicts_status_check check (status in ('approved', 'rejected', 'pending_review')),
    previous_status text not null
    constraint verdicts_previous_status_check
    check (previous_status in ('pending', 'approved', 'rejected', 'pending_review')),
    moderation_type text not null
    constraint verdicts_moderation_type_check check (moderation_type in ('ai', 'manual', 'rule')),
    -- moderation_details as events and status answers carry it.
    details json not null,
    -- How it came to be, for moderators and appeals.
    trace json not null,
    moderated_at timestamptz not null default now(),
    primary key (media_id, number)
);

-- Items that wait for a person.
create table reviews (
    media_id uuid primary key,
    team_id uuid not null,
    site_id uuid not null,
    waiting_since timestamptz not null default now()
);
