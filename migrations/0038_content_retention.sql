-- After how many days without a new verdict the content of a site's items is removed: text, metadata, image and its address. What is
-- known of the items stays. Null: never.

alter table sites
add column content_retention_days integer
constraint sites_content_retention_days_check check (content_retention_days between 1 and 3650);

alter table media
-- When its content was removed.
add column content_removed_at timestamptz;

-- How far the removal of contents has got at each site that wants it.
create table content_walks (
    site_id uuid primary key,
    -- Items up to this one were looked at. Those whose content had to stay are listed below.
    walked_to uuid not null
);

-- Items that were looked at when their content had to stay.
create table content_stragglers (
    site_id uuid not null,
    media_id uuid not null,
    primary key (site_id, media_id)
);
